// contract.md 1 and 8: newest wins, and in order with every gap counted, over a connection that stutters and breaks.
#include <cstdio>

#include <string>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/flaky_relay.h"
#include "support/payload.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// A real publication "t", which the subscriber knows as "far" and reaches through the relay only.
struct relayed_stream {
  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  raw_client liar{address_broker.endpoint()};
  std::unique_ptr<flaky_relay> relay;

  relayed_stream(unsigned seed, unsigned cut_every) {
    REQUIRE(sender.register_topic("t", {.transports = {orc::transport::ipc}}).result());
    raw_client client(address_broker.endpoint());
    const auto state = described(client, "t");
    // The relay takes the place of the publication's socket, the only one where a publication with its id may be.
    const std::string path = state.publication->endpoints.front().address.substr(std::string("ipc://").size());
    const std::string target = path + ".real";
    REQUIRE(::rename(path.c_str(), target.c_str()) == 0);
    relay = std::make_unique<flaky_relay>(path, target, seed, cut_every);
    liar.ask(hello_of_this_process("relay"));
    liar.ask(wire::register_topic{
        "far", state.publication->publication, {{wire::transport::ipc, "ipc://" + path}}, std::nullopt});
  }
};

}  // namespace

TEST_CASE("flaky link: pieces, pauses and cuts never make a receive go back, and the last sample arrives",
          "[fault][threads]") {
  unsigned cuts = 0;
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const int conflate : {1, 0}) {
      INFO("seed " << seed << ", conflate " << conflate);
      relayed_stream s(seed, 200);
      REQUIRE(s.receiver
                  .request_topic(
                      "far", {.conflate = conflate, .depth = conflate == 0 ? 1000U : 0U, .connected_within = patience})
                  .result());
      auto subscriber = s.receiver.subscriber("far");
      auto publisher = s.sender.publisher("t");
      const std::uint64_t last = rounds(3000, 30'000, 1500);
      std::thread sending([&] {
        std::string bytes(2000, 'x');
        for (std::uint64_t value = 1; value <= last; ++value) {
          std::memcpy(bytes.data(), &value, sizeof value);
          static_cast<void>(publisher.send(bytes.data(), sizeof value + value % 1900));
          if (value % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      });
      std::uint64_t seen = 0;
      std::uint64_t missed = 0;
      std::uint64_t received = 0;
      std::uint64_t first = 0;
      while (seen < last) {
        const auto got = subscriber.recv(patience_ms);
        REQUIRE(got);
        REQUIRE(value_of(got) > seen);
        REQUIRE(value_of(got) == got.sequence());
        REQUIRE(got.size() == sizeof(std::uint64_t) + got.sequence() % 1900);
        seen = got.sequence();
        if (first == 0) first = seen;
        missed += received == 0 ? 0 : got.missed();
        ++received;
      }
      sending.join();
      CHECK(first + received + missed == last + 1);
      cuts += s.relay->cuts();
    }
  }
  CHECK(cuts > 0);
}

TEST_CASE("flaky link: in order, a connection that only stutters loses nothing", "[fault][threads]") {
  relayed_stream s(7, 0);
  REQUIRE(s.receiver.request_topic("far", {.conflate = 0, .depth = 65536, .connected_within = patience}).result());
  auto subscriber = s.receiver.subscriber("far");
  auto publisher = s.sender.publisher("t");
  const std::uint64_t last = rounds(2000, 20'000);
  for (std::uint64_t value = 1; value <= last; ++value) REQUIRE(send_value(publisher, value));
  for (std::uint64_t value = 1; value <= last; ++value) {
    const auto got = subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) == value);
    REQUIRE(got.missed() == 0);
  }
}
