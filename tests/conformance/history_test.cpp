// A history of a topic, over every transport.
#include "orc/history.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace history_conformance {

struct turning {
  double angle;
  float speed[2];
  double rotation[4];
};
ORC_DESCRIBE(turning, (angle, "rad"), speed, (rotation, "quaternion", "x, y, z, w"))

// About the z axis.
turning at_angle(double angle) {
  return {angle, {1, static_cast<float>(angle)}, {0, 0, std::sin(angle / 2), std::cos(angle / 2)}};
}

}  // namespace history_conformance

using namespace history_conformance;

TEMPLATE_TEST_CASE("history: keeps what arrives, in order, and finds it again", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 512));
  orc::history kept(l.subscriber, {.samples = 150});
  REQUIRE(kept.recv(0) == orc::errc::nothing_new);
  std::vector<std::int64_t> stamps;
  std::uint64_t sent = 0;
  for (int burst = 0; burst < 10; ++burst) {
    for (int n = 0; n < 20; ++n) REQUIRE(send_value(l.publisher, ++sent));
    while (kept.empty() || kept.newest().sequence < sent) REQUIRE(kept.recv(patience_ms) == orc::errc::ok);
  }
  REQUIRE(kept.size() == 150);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto each = kept.samples()[i];
    std::uint64_t value = 0;
    REQUIRE(each.bytes.size() >= sizeof value);
    std::memcpy(&value, each.bytes.data(), sizeof value);
    REQUIRE(value == 51 + i);
    REQUIRE(each.missed == 0);
    REQUIRE(kept.at(each.stamp_ns)->stamp_ns == each.stamp_ns);
  }
  const auto from = kept.samples()[10].stamp_ns;
  const auto to = kept.samples()[90].stamp_ns;
  std::uint64_t last = 0;
  std::size_t count = 0;
  for (const orc::past_sample& each : kept.between(from, to)) {
    CHECK(each.stamp_ns >= from);
    CHECK(each.stamp_ns <= to);
    CHECK(each.sequence > last);
    last = each.sequence;
    ++count;
  }
  CHECK(count == kept.between(from, to).size());
  CHECK(count >= 81);
  CHECK(kept.between(to, from).empty());
  CHECK_FALSE(kept.at(kept.oldest().stamp_ns - 1));
}

TEMPLATE_TEST_CASE("history: one receive returns the newest of all that arrived", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 512));
  orc::history kept(l.subscriber);
  REQUIRE(send_value(l.publisher, 1));
  REQUIRE(kept.recv_next(patience_ms) == orc::errc::ok);
  for (std::uint64_t n = 2; n <= 100; ++n) REQUIRE(send_value(l.publisher, n));
  while (kept.newest().sequence < 100) REQUIRE(kept.recv(patience_ms) == orc::errc::ok);
  CHECK(kept.size() == 100);
  CHECK(kept.recv(0) == orc::errc::nothing_new);
  CHECK(kept.recv(-2) == orc::errc::bad_argument);
}

TEMPLATE_TEST_CASE("history: typed fields between samples", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  orc::participant receiver(address_broker.options("receiver"));
  auto out = sender.register_topic<turning>("turning", offered<TestType>());
  orc::typed_history kept(receiver.request_topic<turning>("turning", wanted<TestType>(0, 64)));
  REQUIRE(out.result());
  constexpr int count = 5;
  for (int n = 0; n < count; ++n) {
    REQUIRE(out.send(at_angle(0.1 * n)));
    REQUIRE(kept.recv_next(patience_ms) == orc::errc::ok);
  }
  REQUIRE(kept.size() == count);
  CHECK(kept.newest()->angle == Approx(0.4));
  const auto stamp = [&](std::size_t i) { return kept.untyped().samples()[i].stamp_ns; };
  REQUIRE(stamp(1) < stamp(2));
  const std::int64_t between = stamp(1) + (stamp(2) - stamp(1)) / 3;
  const double part = static_cast<double>(between - stamp(1)) / static_cast<double>(stamp(2) - stamp(1));

  const std::optional<double> angle = kept.interpolate(&turning::angle, between);
  REQUIRE(angle);
  CHECK(*angle == Approx(0.1 + 0.1 * part));
  const std::optional<std::array<double, 2>> speed = kept.interpolate(&turning::speed, between);
  REQUIRE(speed);
  CHECK((*speed)[0] == 1);
  // On the arc: the angle of the rotation grows evenly.
  const std::optional<std::array<double, 4>> rotation = kept.interpolate(&turning::rotation, between);
  REQUIRE(rotation);
  CHECK(2 * std::asin((*rotation)[2]) == Approx(0.1 + 0.1 * part).epsilon(1e-12));
  CHECK(kept.interpolate([](const turning& at) { return at.angle * 2; }, stamp(2)) == std::optional(0.2 * 2));
  CHECK(*kept.mean(&turning::angle, stamp(0), stamp(4)) == Approx(0.2));
  CHECK(*kept.moving_average(&turning::angle, 0ns) == Approx(0.4));
  CHECK_FALSE(kept.interpolate(&turning::angle, stamp(0) - 1));
  const auto then = kept.at(between);
  REQUIRE(then);
  REQUIRE(*then);
  CHECK((*then)->angle == Approx(0.1));
}

TEST_CASE("history: samples of another type have no values", "[conformance][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options("both"));
  REQUIRE(both.register_topic("mixed"));
  auto options = wanted<inproc>(0, 64);
  options.type_check = orc::type_check::off;
  orc::typed_history kept(both.request_topic<turning>("mixed", options));
  const turning whole = at_angle(1);
  REQUIRE(both.send_msg("mixed", &whole, sizeof whole));
  REQUIRE(kept.recv_next(patience_ms) == orc::errc::ok);
  REQUIRE(both.send_msg("mixed", &whole, 3));
  REQUIRE(kept.recv_next(patience_ms) == orc::errc::ok);
  REQUIRE(kept.size() == 2);
  CHECK_FALSE(kept.newest());
  const auto stamp = [&](std::size_t i) { return kept.untyped().samples()[i].stamp_ns; };
  CHECK(kept.interpolate(&turning::angle, stamp(0)) == std::optional(1.0));
  CHECK_FALSE(kept.interpolate(&turning::angle, stamp(1)));
  CHECK_FALSE(kept.interpolate(&turning::rotation, stamp(1)));
  CHECK(*kept.mean(&turning::angle, stamp(0), stamp(1)) == 1);
}
