// Forged reports, made-up readers and forged announcements: the honest ends of a multicast topic go on.
#include <arpa/inet.h>

#include <atomic>
#include <string>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/fake_readers.h"
#include "support/payload.h"
#include "support/raw_client.h"
#include "support/test_group.h"
#include "support/udp_stranger.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace orc::detail;

namespace {

constexpr const char* topic = "hostile";
constexpr std::size_t fakes = 1024;

// A publication that a broker knows, and what a stranger learns of it.
class victim {
 public:
  victim() {
    options = address_broker.options("victim");
    options.multicast = test_group();
    sender = std::make_unique<orc::participant>(options);
    REQUIRE(sender->register_topic(topic, {.transports = {orc::transport::multicast}}).result());
    publisher = sender->publisher(topic);
    raw_client client(address_broker.endpoint());
    const auto state = described(client, topic);
    REQUIRE(state.publication);
    id = state.publication->publication;
    url =
        *orc::wire::multicast_url::parse(address_of(address_broker.endpoint(), topic, orc::wire::transport::multicast));
    REQUIRE(url.from);
  }

  broker_process address_broker;
  orc::participant_options options;
  std::unique_ptr<orc::participant> sender;
  orc::publisher publisher;
  orc::wire::id id;
  orc::wire::multicast_url url;
};

multicast::orc_datagram report_for(const orc::wire::id& publication, std::uint64_t wanted) {
  multicast::orc_datagram report{};
  report.kind = multicast::datagram_kind::report;
  report.publication = publication;
  report.link = orc::wire::id::random();
  report.wanted = wanted;
  report.gap_count = 1;
  report.gaps[0] = {0, UINT16_MAX};
  return report;
}

}  // namespace

TEST_CASE("hostile multicast: a forged report draws no more bytes than it has", "[fault][threads]") {
  victim v;
  for (const std::size_t size : {60'000u, 2'000'000u}) {
    const auto sample = patterned(size);
    REQUIRE(v.publisher.send(sample.data(), sample.size()));
    udp_stranger forger(test_group());
    std::size_t sent = 0;
    std::size_t drawn = 0;
    for (int n = 0; n < 100; ++n) {
      const auto report = report_for(v.id, size == 60'000u ? 1 : 2);
      for (int times = 0; times < 2; ++times) sent += forger.send(report, *v.url.from);
    }
    for (;;) {
      const auto answer = forger.receive(std::chrono::milliseconds(500));
      if (answer.empty()) break;
      drawn += answer.size();
    }
    INFO(sent << " bytes drew " << drawn);
    CHECK(drawn > 0);  // the cookies
    CHECK(drawn <= sent);
    CHECK(v.publisher.readers() == 0);
  }
}

TEST_CASE("hostile multicast: a cookie is no good at another address, nor for another link", "[fault][threads]") {
  victim v;
  udp_stranger first(test_group());
  udp_stranger second(test_group());
  auto report = report_for(v.id, 0);
  const auto cookie_of = [&](udp_stranger& whom) -> std::uint64_t {
    whom.send(report, *v.url.from);
    const auto answer = multicast::decode(whom.receive(patience));
    return answer && answer->kind == multicast::datagram_kind::status ? answer->cookie : 0;
  };
  report.cookie = cookie_of(first);
  CHECK(report.cookie != 0);
  CHECK(cookie_of(second) != report.cookie);
  const auto good_link = std::exchange(report.link, orc::wire::id::random());
  CHECK(cookie_of(first) != report.cookie);
  CHECK(v.publisher.readers() == 0);
  report.link = good_link;
  first.send(report, *v.url.from);
  CHECK(wait_until([&] { return v.publisher.readers() == 1; }));
  // Its goodbye needs the cookie as well.
  auto goodbye = report;
  goodbye.kind = multicast::datagram_kind::goodbye;
  goodbye.cookie ^= 1;
  first.send(goodbye, *v.url.from);
  CHECK(cookie_of(second) != 0);  // by now it was read
  CHECK(v.publisher.readers() == 1);
  goodbye.cookie = report.cookie;
  first.send(goodbye, *v.url.from);
  CHECK(wait_until([&] { return v.publisher.readers() == 0; }));
}

TEST_CASE("hostile multicast: 1,024 fake readers do not break the link of an honest one", "[fault][threads]") {
  victim v;
  REQUIRE(send_value(v.publisher, 1));
  const fake_readers crowd(fakes, v.id, *v.url.from);
  REQUIRE(wait_until([&] { return v.publisher.readers() == fakes; }));
  orc::participant receiver(v.options);
  REQUIRE(receiver.request_topic(topic, {.connected_within = patience}).result());
  // A link without statuses was given up after five seconds.
  const auto end = monotonic::now() + std::chrono::seconds(8);
  std::uint64_t value = 1;
  while (monotonic::now() < end) {
    REQUIRE(send_value(v.publisher, ++value));
    const auto got = receiver.recv_msg(topic, patience_ms);
    REQUIRE(got);
    REQUIRE(receiver.subscriber(topic).connected());
  }
}

TEST_CASE("hostile multicast: 1,024 fake readers that want all again do not keep repairs from an honest one",
          "[fault][threads]") {
  victim v;
  auto options = v.options;
  options.multicast = test_group() + "&recv_buf_size=65536";  // less than a sample: it needs repairs
  orc::participant receiver(options);
  REQUIRE(receiver.request_topic(topic, {.connected_within = patience}).result());
  REQUIRE(wait_until([&] { return v.publisher.readers() == 1; }));
  const fake_readers crowd(fakes, v.id, *v.url.from);
  REQUIRE(wait_until([&] { return v.publisher.readers() == fakes; }));
  const auto sample = patterned(600'000);
  REQUIRE(v.publisher.send(sample.data(), sample.size()));
  CHECK(wait_until([&] { return holds(receiver.recv_msg(topic, 100), sample); }));
}

TEST_CASE("hostile multicast: forged announcements take no new subscriber", "[fault][threads]") {
  victim v;
  std::atomic<bool> stop{false};
  std::thread forging([&] {
    udp_stranger forger(test_group());
    multicast::orc_datagram forged{};
    forged.kind = multicast::datagram_kind::announce;
    forged.registered = true;
    forged.publication = v.id;
    forged.channel = topic;
    forged.sequence = 1'000'000;
    while (!stop) {
      forger.to_group(forged);
      std::this_thread::yield();
    }
  });
  // One that was taken hears the forger instead of the group: of a burst it gets the last sample only, as a repair.
  constexpr std::uint64_t burst = 50;
  std::uint64_t value = 0;
  std::size_t taken = 0;
  for (int n = 0; n < 24; ++n) {
    orc::participant receiver(v.options);
    const auto connected =
        receiver.request_topic(topic, {.conflate = 0, .depth = 1000, .connected_within = patience}).result();
    const std::uint64_t first = value + 1;
    for (std::uint64_t i = 0; i < burst; ++i) CHECK(send_value(v.publisher, ++value));
    std::uint64_t heard = 0;
    std::uint64_t got = 0;
    while (got < value) {
      const auto message = receiver.recv_msg(topic, 5000);
      if (!message) break;
      got = value_of(message);
      if (got >= first) ++heard;
    }
    if (!connected || heard != burst) ++taken;
  }
  stop = true;
  forging.join();
  CHECK(taken == 0);
}
