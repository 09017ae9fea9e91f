// Multicast without a broker, as LCM works: whoever sends on a topic's name is heard.
#include "conformance/each_arrives.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_group.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

const orc::request_options wanted_within{.connected_within = patience};

}  // namespace

TEST_CASE("multicast alone: topics work without a broker, and set-up is done at once", "[conformance][threads]") {
  orc::participant sender(alone());
  orc::participant receiver(alone());
  CHECK(sender.broker_endpoint() == "none");
  REQUIRE(receiver.request_topic("t"));
  REQUIRE(sender.register_topic("t"));
  CHECK(receiver.subscriber("t").wait_connected(patience_ms));
  auto publisher = sender.publisher("t");
  each_arrives(publisher, receiver, "t", 1000);
  CHECK(wait_until([&] { return publisher.readers() == 1; }));
  CHECK(receiver.subscriber("t").link().transport == orc::transport::multicast);
}

TEST_CASE("multicast alone: who comes late gets the last sample, and who comes first hears a topic that comes later",
          "[conformance][threads]") {
  orc::participant sender(alone());
  REQUIRE(sender.register_topic("late"));
  auto publisher = sender.publisher("late");
  for (std::uint64_t value = 1; value <= 5; ++value) REQUIRE(send_value(publisher, value));
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("late", wanted_within).result());
  const auto got = receiver.recv_msg("late", patience_ms);
  REQUIRE(got);
  CHECK(value_of(got) == 5);
  CHECK(got.sequence() == 5);
}

TEST_CASE("multicast alone: a publisher that comes back is heard again, newest wins", "[conformance][threads]") {
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("back"));
  std::uint64_t previous = 0;
  for (std::uint64_t life = 1; life <= 5; ++life) {
    orc::participant sender(alone());
    REQUIRE(sender.register_topic("back"));
    auto publisher = sender.publisher("back");
    for (std::uint64_t value = 1; value <= 20; ++value) REQUIRE(send_value(publisher, life * 1000 + value));
    CHECK(wait_until([&] {
      const auto got = receiver.recv_msg("back", 0);
      if (!got) return false;
      if (value_of(got) <= previous || got.sequence() == 0) return false;
      previous = value_of(got);
      return previous == life * 1000 + 20;
    }));
  }
}

TEST_CASE("multicast alone: several programs on one topic are kept apart and all heard", "[conformance][threads]") {
  orc::participant first(alone());
  orc::participant second(alone());
  orc::participant receiver(alone());
  for (orc::participant* const each : {&first, &second}) REQUIRE(each->register_topic("many"));
  REQUIRE(receiver.request_topic("many", {.conflate = 0, .depth = 1000}).result());
  const auto large_of_first = patterned(300'000, 1);
  const auto large_of_second = patterned(300'000, 2);
  std::size_t of_first = 0;
  std::size_t of_second = 0;
  std::uint64_t previous = 0;
  const auto receive = [&] {
    const auto got = receiver.recv_msg("many", patience_ms);
    REQUIRE(got);
    REQUIRE(got.sequence() > previous);
    previous = got.sequence();
    of_first += holds(got, large_of_first) ? 1u : 0u;
    of_second += holds(got, large_of_second) ? 1u : 0u;
    REQUIRE((holds(got, large_of_first) || holds(got, large_of_second)));
  };
  for (int n = 0; n < 50; ++n) {
    REQUIRE(first.send_msg("many", large_of_first.data(), large_of_first.size()));
    receive();
    REQUIRE(second.send_msg("many", large_of_second.data(), large_of_second.size()));
    receive();
  }
  CHECK(of_first == 50);
  CHECK(of_second == 50);
}

TEST_CASE("multicast alone: what does not work without a broker is said", "[conformance][threads]") {
  orc::participant b(alone());
  const auto other = b.register_topic("t", {.transports = {orc::transport::ipc}}).result();
  CHECK(other.code() == orc::errc::bad_argument);
  CHECK(other.error().message().find("only multicast") != std::string::npos);
  CHECK(b.request_topic("t", {.transports = {orc::transport::shm}}).result().code() == orc::errc::bad_argument);
  CHECK(b.register_topic("t", {.transports = {orc::transport::shm, orc::transport::multicast}}));
  CHECK(b.request_topic("t"));
}

TEST_CASE("multicast: a URL that is none, a name that is too long and an interface that is not there are said",
          "[conformance][threads]") {
  orc::participant wrong(alone("udpm://10.0.0.1:7667"));
  CHECK(wrong.register_topic("t").result().code() == orc::errc::bad_argument);
  orc::participant b(alone());
  CHECK(b.register_topic("t", {.multicast = "udp://nonsense"}).result().code() == orc::errc::bad_argument);
  const auto longest = b.register_topic(std::string(64, 'c')).result();
  CHECK(longest.code() == orc::errc::bad_name);
  CHECK(longest.error().message().find("63") != std::string::npos);
  CHECK(b.register_topic(std::string(63, 'c')));
  const auto too_long = b.request_topic(std::string(64, 'c')).result();
  CHECK(too_long.code() == orc::errc::bad_name);
  CHECK(too_long.error().message().find("too long") != std::string::npos);
  CHECK(b.recv_msg(std::string(64, 'c'), 0).status() == orc::errc::not_requested);
  orc::participant astray(alone("udpm://239.255.76.67:7667?interface=nosuch0"));
  const auto deaf = astray.request_topic("t").result();
  CHECK(deaf.code() == orc::errc::bad_argument);
  CHECK(deaf.error().message().find("nosuch0") != std::string::npos);
  const auto nowhere = b.register_topic("t", {.multicast = "udpm://239.255.76.67:7667?interface=nosuch0"}).result();
  CHECK(nowhere.code() == orc::errc::bad_argument);
  CHECK(nowhere.error().message().find("nosuch0") != std::string::npos);
}

TEST_CASE("multicast: a kernel buffer far smaller than the sample, and the sample arrives all the same",
          "[conformance][threads]") {
  const std::string url = test_group() + "&recv_buf_size=65536";
  orc::participant sender(alone(url));
  orc::participant receiver(alone(url));
  REQUIRE(sender.register_topic("large"));
  REQUIRE(receiver.request_topic("large", wanted_within).result());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto sample = patterned(10'000'000, seed);
    REQUIRE(sender.send_msg("large", sample.data(), sample.size()));
    CHECK(wait_until([&] { return holds(receiver.recv_msg("large", 100), sample); }));
  }
}

TEST_CASE("multicast: with forward error correction the samples are the same", "[conformance][threads]") {
  const std::string url = test_group() + "&fec=20";
  orc::participant sender(alone(url));
  orc::participant receiver(alone(url));
  REQUIRE(sender.register_topic("protected"));
  REQUIRE(receiver.request_topic("protected", wanted_within).result());
  std::uint64_t sequence = 0;
  for (const std::size_t size : {0u, 1u, 17u, 18u, 1000u, 65'000u, 66'000u, 1'000'000u}) {
    const auto sample = patterned(size);
    REQUIRE(sender.send_msg("protected", sample.data(), sample.size()));
    const auto got = receiver.recv_msg("protected", patience_ms);
    REQUIRE(got);
    CHECK(holds(got, sample));
    CHECK(got.sequence() == ++sequence);
  }
}

TEST_CASE("multicast: a large sample that was sent before there was a broker arrives", "[conformance][threads]") {
  broker_process address_broker(broker_process::at::nowhere);
  auto impatient = address_broker.options("early");
  impatient.broker_timeout = std::chrono::milliseconds(10);
  orc::participant sender(impatient);
  CHECK(sender.register_topic("early", {.transports = {orc::transport::multicast}}).result().code() ==
        orc::errc::no_broker);
  const auto sample = patterned(100'000);
  REQUIRE(sender.send_msg("early", sample.data(), sample.size()));
  address_broker.start();
  orc::participant receiver(address_broker.options("receiver"));
  REQUIRE(receiver.request_topic("early", wanted_within).result());
  const auto got = receiver.recv_msg("early", patience_ms);
  REQUIRE(got);
  CHECK(holds(got, sample));
  CHECK(got.missed() == 0);
}

TEST_CASE("multicast alone: a request listens when it returns", "[conformance][threads]") {
  orc::participant sender(alone());
  REQUIRE(sender.register_topic("at_once"));
  for (int n = 0; n < 20; ++n) {
    orc::participant receiver(alone());
    REQUIRE(receiver.request_topic("at_once"));
    REQUIRE(sender.send_msg("at_once", &n, sizeof n));
    REQUIRE(receiver.recv_msg("at_once", 900));  // before the publication announces itself again
  }
}
