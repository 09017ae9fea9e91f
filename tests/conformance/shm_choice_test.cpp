// Which transport is taken when shm is among them, several at once, and options that only shm heeds.
#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::transport;

namespace {

constexpr std::array all = {transport::inproc, transport::shm, transport::ipc, transport::tcp};
constexpr orc::transport_set every{transport::inproc, transport::shm, transport::ipc, transport::tcp};

}  // namespace

TEST_CASE("shm: beside the other transports each subscriber gets every sample", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  REQUIRE(sender.register_topic("t", {.transports = every}));
  auto publisher = sender.publisher("t");
  std::vector<std::unique_ptr<orc::participant>> receivers;
  for (const auto kind : all) {
    receivers.push_back(std::make_unique<orc::participant>(address_broker.options("receiver")));
    REQUIRE(receivers.back()->request_topic("t", {.connected_within = patience, .transports = {kind}}).result());
    CHECK(receivers.back()->subscriber("t").link().transport == kind);
  }
  std::vector<orc::message> held;
  for (std::uint64_t n = 1; n <= rounds(3000, 100'000); ++n) {
    const bytes sample = patterned(n % 50 == 0 ? 100'000 : n % 400, n);
    if (n % 3 == 0) {
      auto filled = publisher.loan(sample.size());
      REQUIRE(filled);
      if (!sample.empty()) std::memcpy(filled.data(), sample.data(), sample.size());
      REQUIRE(publisher.send(std::move(filled)));
    } else {
      REQUIRE(publisher.send(sample.data(), sample.size()));
    }
    for (auto& receiver : receivers) {
      auto got = receiver->recv_msg("t", patience_ms);
      REQUIRE(got);
      REQUIRE(got.sequence() == n);
      REQUIRE(got.missed() == 0);
      REQUIRE(holds(got, sample));
      held.push_back(std::move(got));
    }
    if (held.size() > 16) held.erase(held.begin(), held.begin() + 4);
    for (std::size_t k = 0; n % 50 == 0 && k < held.size(); ++k)
      REQUIRE(holds(held[k], patterned(held[k].size(), held[k].sequence())));
  }
}

TEST_CASE("shm: subscribers that come and go over all transports get the last value and all that follows",
          "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  REQUIRE(sender.register_topic("t", {.transports = every}));
  auto publisher = sender.publisher("t");
  std::uint64_t value = 1;
  REQUIRE(send_value(publisher, value));
  for (std::size_t n = 0; n < rounds(100, 2000, 16); ++n) {
    const auto kind = all[n % all.size()];
    const auto second = all[n / all.size() % all.size()];
    INFO(n << ": " << orc::to_string(kind) << ", " << orc::to_string(second));
    orc::participant receiver(address_broker.options("receiver"));
    REQUIRE(receiver.request_topic("t", {.connected_within = patience, .transports = {kind}}).result());
    REQUIRE(value_of(receiver.recv_msg("t", patience_ms)) == value);
    REQUIRE(send_value(publisher, ++value));
    orc::participant other(address_broker.options("other"));
    REQUIRE(other.request_topic("t", {.connected_within = patience, .transports = {second}}).result());
    REQUIRE(value_of(other.recv_msg("t", patience_ms)) == value);
    REQUIRE(value_of(receiver.recv_msg("t", patience_ms)) == value);
    auto filled = publisher.loan(sizeof value);
    REQUIRE(filled);
    ++value;
    std::memcpy(filled.data(), &value, sizeof value);
    REQUIRE(publisher.send(std::move(filled)));
    REQUIRE(value_of(receiver.recv_msg("t", patience_ms)) == value);
    REQUIRE(value_of(other.recv_msg("t", patience_ms)) == value);
  }
}

TEST_CASE("shm: where it is not offered another one is taken, and why is said", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  REQUIRE(sender.register_topic("t", {.transports = {transport::ipc, transport::tcp}}));
  orc::participant receiver(address_broker.options("receiver"));
  REQUIRE(receiver.request_topic("t", {.connected_within = patience, .transports = {transport::shm, transport::ipc}})
              .result());
  const auto link = receiver.subscriber("t").link();
  CHECK(link.transport == transport::ipc);
  CHECK_THAT(link.reason, contains("shm: not offered"));
  REQUIRE(sender.send_msg("t", "x", 1));
  CHECK(receiver.recv_msg("t", patience_ms));
  // Nobody gets shm who did not name it at the publisher's side.
  REQUIRE(sender.register_topic("default"));
  REQUIRE(
      receiver
          .request_topic("default", {.connected_within = std::chrono::milliseconds(0), .transports = {transport::shm}})
          .result());
  CHECK(receiver.subscriber("default").wait_connected(50).code() == orc::errc::timed_out);
  CHECK(wait_until(
      [&] { return receiver.subscriber("default").link().reason.find("shm: not offered") != std::string::npos; }));
}

TEST_CASE("shm: options that make no sense are refused, the largest are not", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  const auto offer = [&](std::size_t history) {
    return both.register_topic("t" + std::to_string(history), {.transports = {transport::shm}, .history = history})
        .result();
  };
  for (const std::size_t history : {std::size_t{0}, std::size_t{65'537}, SIZE_MAX}) {
    const auto refused = offer(history);
    CHECK(refused.code() == orc::errc::bad_argument);
    CHECK_THAT(refused.error().message(), contains(std::to_string(history)));
  }
  CHECK(offer(65'536));
  const auto ask = [&](std::size_t messages, int spin_us) {
    return both
        .request_topic(
            "r", {.transports = {transport::shm}, .max_messages = messages, .spin = std::chrono::microseconds(spin_us)})
        .result();
  };
  for (const std::size_t messages : {std::size_t{0}, std::size_t{61}, SIZE_MAX}) {
    const auto refused = ask(messages, 0);
    CHECK(refused.code() == orc::errc::bad_argument);
    CHECK_THAT(refused.error().message(), contains("max_messages"));
  }
  for (const int spin_us : {-1, 1'000'001, INT32_MIN}) {
    const auto refused = ask(8, spin_us);
    CHECK(refused.code() == orc::errc::bad_argument);
    CHECK_THAT(refused.error().message(), contains("spin is 0 to 1000 ms"));
  }
  CHECK(!both.subscriber("r"));
  CHECK(ask(60, 1'000'000));
  // With other options than before it would not be what was asked for.
  CHECK(ask(59, 1'000'000).code() == orc::errc::bad_argument);
  CHECK(ask(60, 999).code() == orc::errc::bad_argument);
}

TEST_CASE("shm: the largest history keeps its samples", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  orc::participant receiver(address_broker.options("receiver"));
  REQUIRE(sender.register_topic("t", {.transports = {transport::shm}, .history = 65'536}));
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  auto publisher = sender.publisher("t");
  for (std::uint64_t value = 1; value <= 100'000; ++value) REQUIRE(send_value(publisher, value));
  auto got = receiver.recv_next("t", patience_ms);
  REQUIRE(value_of(got) == 100'000 - 65'536 + 1);
  while (value_of(got) != 100'000) {
    const auto before = value_of(got);
    got = receiver.recv_next("t", 0);
    REQUIRE(value_of(got) == before + 1);
  }
}

TEST_CASE("shm: a receive that looks before it sleeps gets every sample, and heeds its end", "[conformance][threads]") {
  for (const int spin_us : {1, 200, 1'000'000}) {
    INFO("spin_us " << spin_us);
    auto wish = wanted<shm>();
    wish.spin = std::chrono::microseconds(spin_us);
    linked<shm> l(wish);
    linked<shm> back(wish);
    std::thread echo([&] {
      for (;;) {
        auto got = l.subscriber.recv(-1);
        if (!got || !back.publisher.send(std::move(got))) return;
      }
    });
    for (std::uint64_t value = 1; value <= rounds(5000, 100'000); ++value) {
      REQUIRE(send_value(l.publisher, value));
      REQUIRE(value_of(back.subscriber.recv(patience_ms)) == value);
    }
    CHECK(back.subscriber.recv(20).status() == orc::errc::timed_out);
    CHECK(back.subscriber.recv(0).status() == orc::errc::nothing_new);
    REQUIRE(l.receiver.release_topic(l.topic));
    echo.join();
  }
}
