// Types over multicast without a broker: publications announce theirs, and LCM messages begin with their fingerprint.
#include <cstdio>
#include <mutex>

#include "orc.h"
#include "support/broker_process.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/test_group.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// One field `q` of seven numbers. `padding` makes the description longer, not another type.
orc::type_description numbers(const std::string& kind, std::size_t size, std::size_t padding = 0) {
  const std::string comment = padding == 0 ? "" : R"(,"comment":")" + std::string(padding, 'x') + '"';
  return {"robot.State", "struct", "struct",
          R"({"byte_order":"little","size":)" + std::to_string(7 * size) + R"(,"fields":[{"name":"q","type":")" + kind +
              R"(","offset":0,"shape":[7])" + comment + "}]}"};
}
const auto floats = numbers("float32", 4);
const auto doubles = numbers("float64", 8);

orc::type_description lcm(std::uint64_t fingerprint) {
  char text[40];
  std::snprintf(text, sizeof text, "fingerprint 0x%016llx\n", static_cast<unsigned long long>(fingerprint));
  return {"exlcm.example_t", "lcm", "lcm", text};
}

// An LCM message of that type.
std::string lcm_message(std::uint64_t fingerprint, const std::string& rest) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(fingerprint >> shift & 0xff);
  return bytes + rest;
}

constexpr int short_ms = 300;

bool send(orc::participant& by, const std::string& topic, const std::string& bytes) {
  return static_cast<bool>(by.send_msg(topic, bytes.data(), bytes.size()));
}

std::string text_of(const orc::message& got) { return {static_cast<const char*>(got.data()), got.size()}; }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Waits until the link's reason has this text.
bool says(const orc::subscriber& s, const std::string& part) {
  return wait_until([&] { return contains(s.link().reason, part); });
}

}  // namespace

TEST_CASE("multicast alone: a subscription of another type gets no sample, and both types are said",
          "[conformance][threads]") {
  std::mutex mutex;
  std::string warnings;
  auto options = alone();
  options.log = [&](orc::log_level level, std::string_view text) {
    const std::lock_guard lock(mutex);
    if (level == orc::log_level::warning) warnings += std::string(text) + '\n';
  };
  orc::participant sender(alone());
  orc::participant receiver(options);
  REQUIRE(sender.register_topic("typed", {.type = floats}));
  REQUIRE(send(sender, "typed", "too early"));
  REQUIRE(receiver.request_topic("typed", {.type = doubles}).result());
  auto subscriber = receiver.subscriber("typed");
  REQUIRE(wait_until([&] { return subscriber.wait_connected(0).code() == orc::errc::type_mismatch; }));
  const auto outcome = subscriber.wait_connected(1);
  const auto said = outcome.error().message();
  INFO(said);
  CHECK(said.starts_with("topic typed: "));
  CHECK(contains(said, "field `q` is float32[7] at publisher `"));
  CHECK(contains(said, "float64[7] here"));
  CHECK(subscriber.link().reason == said);
  CHECK(wait_until([&] {
    const std::lock_guard lock(mutex);
    return warnings == said + '\n';
  }));
  CHECK(!subscriber.connected());
  REQUIRE(send(sender, "typed", "still"));
  CHECK(subscriber.recv(short_ms).status() == orc::errc::timed_out);
}

TEST_CASE("multicast alone: request_topic that waits for a link says that the types differ", "[conformance][threads]") {
  orc::participant sender(alone());
  orc::participant receiver(alone());
  REQUIRE(sender.register_topic("typed", {.type = floats}));
  CHECK(wait_until([&] {
    const auto outcome =
        receiver.request_topic("typed", {.connected_within = std::chrono::milliseconds(short_ms), .type = doubles})
            .result();
    return outcome.code() == orc::errc::type_mismatch;
  }));
}

TEST_CASE("multicast alone: equal types, untyped ends and type_check::off link", "[conformance][threads]") {
  orc::participant sender(alone());
  REQUIRE(sender.register_topic("typed", {.type = floats}));
  REQUIRE(sender.register_topic("untyped"));
  REQUIRE(send(sender, "typed", "t"));
  REQUIRE(send(sender, "untyped", "u"));
  const auto gets = [](const std::string& topic, orc::request_options options, const std::string& bytes) {
    orc::participant receiver(alone());
    options.connected_within = patience;
    REQUIRE(receiver.request_topic(topic, options).result());
    CHECK(text_of(receiver.recv_msg(topic, patience_ms)) == bytes);
  };
  gets("typed", {.type = floats}, "t");
  gets("typed", {}, "t");
  gets("typed", {.type = doubles, .type_check = orc::type_check::off}, "t");
  gets("untyped", {.type = doubles}, "u");
}

TEST_CASE("multicast alone: a type with another description is compared, and the last sample comes then",
          "[conformance][threads]") {
  orc::participant sender(alone());
  const auto described = numbers("float32", 4, 60'000);
  REQUIRE(orc::hash_of(described) != orc::hash_of(floats));
  REQUIRE(sender.register_topic("typed", {.type = described}));
  for (int n = 0; n < 5; ++n) REQUIRE(send(sender, "typed", std::to_string(n)));
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("typed", {.connected_within = patience, .type = floats}).result());
  const auto got = receiver.recv_msg("typed", patience_ms);
  REQUIRE(got);
  CHECK(text_of(got) == "4");
  CHECK(got.sequence() == 5);
  CHECK(got.missed() == 0);
  REQUIRE(send(sender, "typed", "next"));
  CHECK(text_of(receiver.recv_msg("typed", patience_ms)) == "next");
  const auto subscriber = receiver.subscriber("typed");
  CHECK(!contains(subscriber.link().reason, "type"));
}

TEST_CASE("multicast alone: a description that is too long for multicast is said", "[conformance][threads]") {
  orc::participant sender(alone());
  const auto described = numbers("float32", 4, 100'000);
  REQUIRE(sender.register_topic("typed", {.type = described}));
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("typed", {.type = floats}).result());
  auto subscriber = receiver.subscriber("typed");
  REQUIRE(wait_until([&] { return subscriber.wait_connected(0).code() == orc::errc::type_mismatch; }));
  const auto outcome = subscriber.wait_connected(0);
  CHECK(contains(outcome.error().message(), "too long for multicast"));
  orc::participant equal(alone());
  CHECK(equal.request_topic("typed", {.connected_within = patience, .type = described}).result());
}

TEST_CASE("multicast alone: a publisher that comes back with another type is checked again", "[conformance][threads]") {
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("typed", {.type = floats}).result());
  auto subscriber = receiver.subscriber("typed");
  {
    orc::participant sender(alone());
    REQUIRE(sender.register_topic("typed", {.type = doubles}));
    CHECK(wait_until([&] { return subscriber.wait_connected(0).code() == orc::errc::type_mismatch; }));
  }
  {
    orc::participant sender(alone());
    REQUIRE(sender.register_topic("typed", {.type = floats}));
    CHECK(wait_until([&] { return subscriber.connected(); }));
    REQUIRE(send(sender, "typed", "right"));
    CHECK(text_of(subscriber.recv(patience_ms)) == "right");
  }
  orc::participant sender(alone());
  REQUIRE(sender.register_topic("typed", {.type = doubles}));
  CHECK(says(subscriber, "float64[7] at publisher `"));
  REQUIRE(send(sender, "typed", "wrong"));
  CHECK(subscriber.recv(short_ms).status() == orc::errc::timed_out);
}

TEST_CASE("multicast alone: of two publishers the one with the right type is heard", "[conformance][threads]") {
  orc::participant wrong(alone());
  orc::participant right(alone());
  orc::participant receiver(alone());
  REQUIRE(receiver.request_topic("typed", {.type = floats}).result());
  REQUIRE(wrong.register_topic("typed", {.type = doubles}));
  REQUIRE(right.register_topic("typed", {.type = floats}));
  auto subscriber = receiver.subscriber("typed");
  CHECK(wait_until([&] { return subscriber.connected(); }));
  CHECK(says(subscriber, "field `q`"));
  for (int n = 0; n < 10; ++n) {
    REQUIRE(send(right, "typed", "right"));
    CHECK(text_of(subscriber.recv(patience_ms)) == "right");
    REQUIRE(send(wrong, "typed", "wrong"));
  }
  CHECK(subscriber.recv(short_ms).status() == orc::errc::timed_out);
}

TEST_CASE("multicast alone: samples of another lcm type are dropped one by one", "[conformance][threads]") {
  orc::participant sender(alone());
  orc::participant receiver(alone());
  REQUIRE(sender.register_topic("channel"));
  REQUIRE(receiver.request_topic("channel", {.type = lcm(7)}).result());
  auto subscriber = receiver.subscriber("channel");
  REQUIRE(subscriber.wait_connected(patience_ms));  // to an untyped publication
  REQUIRE(send(sender, "channel", lcm_message(7, "good")));
  CHECK(text_of(subscriber.recv(patience_ms)) == lcm_message(7, "good"));
  REQUIRE(send(sender, "channel", lcm_message(8, "bad")));
  CHECK(subscriber.recv(short_ms).status() == orc::errc::timed_out);
  CHECK(says(subscriber, "the fingerprint is 0x0000000000000008 in a message of "));
  CHECK(says(subscriber, "0x0000000000000007 here (exlcm.example_t)"));
  REQUIRE(send(sender, "channel", lcm_message(7, std::string(200'000, 'x'))));
  CHECK(text_of(subscriber.recv(patience_ms)).size() == 200'008);
}

TEST_CASE("multicast: where a broker knows the publication, samples of another lcm type are dropped too",
          "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  orc::participant receiver(address_broker.options("receiver"));
  REQUIRE(sender.register_topic("channel", {.transports = {orc::transport::multicast}, .multicast = test_group()}));
  REQUIRE(receiver.request_topic("channel", {.connected_within = patience, .type = lcm(7)}).result());
  auto subscriber = receiver.subscriber("channel");
  REQUIRE(send(sender, "channel", lcm_message(8, "bad")));
  REQUIRE(send(sender, "channel", lcm_message(7, "good")));
  CHECK(text_of(subscriber.recv(patience_ms)) == lcm_message(7, "good"));
  REQUIRE(send(sender, "channel", lcm_message(8, "bad")));
  CHECK(subscriber.recv(short_ms).status() == orc::errc::timed_out);
  CHECK(says(subscriber, "the fingerprint is 0x0000000000000008"));
}
