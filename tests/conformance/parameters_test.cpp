// What parameters do over every transport.
#include <atomic>
#include <cmath>
#include <thread>

#include "conformance/link.h"
#include "orc/parameters.h"
#include "support/catch.h"
#include "support/wait_until.h"
#include "tools/parameter_files/parameter_files.h"

using namespace orc::test;
using orc::errc;
using orc::parameter_value;

// Services have one reader per topic, so multicast takes no part.
#define ORC_TEST_PARAMETER_TRANSPORTS inproc, shm, ipc, tcp

namespace {

using namespace std::chrono_literals;
constexpr std::chrono::nanoseconds ample = patience;

// A program with parameters, and another one.
template <class Transport>
struct parameter_pair {
  [[nodiscard]] orc::participant_options options(const char* name) const {
    auto made = address_broker.options(name);
    made.transports = {Transport::kind};
    return made;
  }
  [[nodiscard]] orc::result set(const std::string& name, parameter_value value) {
    orc::result done = orc::set_parameter(other, directory, name, ample, value);
    last = std::move(value);
    return done;
  }
  [[nodiscard]] parameter_value get(const std::string& name) {
    parameter_value value;
    const auto got = orc::get_parameter(other, directory, name, ample, value);
    INFO(got.error().message());
    REQUIRE(got);
    return value;
  }

  broker_process address_broker;
  orc::participant owner{options("owner")};
  orc::participant other{options("other")};
  orc::directory directory{{.broker = address_broker.endpoint()}};
  parameter_value last;  // that set() returned
};

[[nodiscard]] std::string text_of(const orc::message& sample) {
  return {static_cast<const char*>(sample.data()), sample.size()};
}

// The newest sample, once it is this one.
[[nodiscard]] bool arrives(orc::participant& by, const std::string& topic, const std::string& sample) {
  std::string newest;
  return wait_until([&] {
    if (const orc::message received = by.recv_msg(topic, 0)) newest = text_of(received);
    return newest == sample;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("parameters: another program sets and observes them", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  auto gain = pair.owner.template parameter<double>("pid/gain", 1.0, {.min = 0, .max = 10});
  INFO(gain.error().message());
  REQUIRE(gain.result());
  CHECK(*gain == 1.0);
  REQUIRE(pair.other.request_topic("pid/gain", {.connected_within = patience}).result());
  CHECK(arrives(pair.other, "pid/gain", R"({"value":1.0})"));
  CHECK(pair.get("pid/gain") == parameter_value(1.0));
  CHECK_FALSE(gain.changed());

  const auto done = pair.set("pid/gain", 2.5);
  INFO(done.error().message());
  REQUIRE(done);
  CHECK(pair.last == parameter_value(2.5));
  CHECK(gain.get() == 2.5);
  CHECK(gain.changed());
  CHECK_FALSE(gain.changed());
  CHECK(arrives(pair.other, "pid/gain", R"({"value":2.5})"));

  REQUIRE(gain.set(3.5));
  CHECK(arrives(pair.other, "pid/gain", R"({"value":3.5})"));
  CHECK(pair.get("pid/gain") == parameter_value(3.5));
}

TEMPLATE_TEST_CASE("parameters: each type is set from outside", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  auto on = pair.owner.template parameter<bool>("on", false);
  auto steps = pair.owner.template parameter<std::int64_t>("steps", 3);
  auto small = pair.owner.template parameter<std::uint8_t>("small", 3);
  auto real = pair.owner.template parameter<float>("real", 0.5F);
  auto mode = pair.owner.template parameter<std::string>("mode", "auto");
  auto list = pair.owner.template parameter<std::vector<double>>("list", {});
  auto gains = pair.owner.template parameter<std::array<double, 3>>("gains", {1, 2, 3});
  CHECK(pair.set("on", true));
  CHECK(*on);
  CHECK(pair.set("steps", std::int64_t{-9'007'199'254'740'993}));
  CHECK(*steps == -9'007'199'254'740'993);
  CHECK(pair.set("steps", 4.0));
  CHECK(*steps == 4);
  CHECK(pair.set("small", std::int64_t{255}));
  CHECK(*small == 255);
  CHECK(pair.set("real", 0.1));
  CHECK(*real == 0.1F);
  CHECK(pair.last == parameter_value(static_cast<double>(0.1F)));
  CHECK(pair.set("real", std::int64_t{2}));
  CHECK(*real == 2.0F);
  const std::string umlauts(std::string(2000, 'x') + "äöü\n\"");
  CHECK(pair.set("mode", umlauts));
  CHECK(*mode == umlauts);
  CHECK(pair.set("list", std::vector<double>(4096, 0.1)));
  CHECK(list.get() == std::vector<double>(4096, 0.1));
  CHECK(pair.set("list", std::vector<double>()));
  CHECK(list.get().empty());
  CHECK(pair.set("gains", std::vector<double>{4, 5, 6}));
  CHECK(*gains == std::array<double, 3>{4, 5, 6});
}

TEMPLATE_TEST_CASE("parameters: a refused value changes nothing and says why", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  auto gain = pair.owner.template parameter<double>(
      "pid/gain", 1.0, {.min = 0, .max = 10, .validate = [](const double& value) -> std::string {
                          if (value == 3) throw std::runtime_error("three is too much");
                          return value == 5 ? "no fives" : "";
                        }});
  auto steps = pair.owner.template parameter<std::int16_t>("steps", 3);
  auto fixed = pair.owner.template parameter<int>("fixed", 3, {.read_only = true});
  REQUIRE(gain.result());
  std::atomic<int> calls{0};
  REQUIRE(gain.on_change([&](const double&) { ++calls; }));
  const auto refused = [&](const std::string& name, parameter_value value) {
    const auto done = pair.set(name, std::move(value));
    CHECK(done.code() == errc::bad_argument);
    return done.error().message();
  };
  const std::string range = "pid/gain is a number from 0.0 to 10.0";
  CHECK(refused("pid/gain", 11.0) == range + ", not 11.0");
  CHECK(refused("pid/gain", "x") == range + ", not \"x\"");
  CHECK(refused("pid/gain", true) == range + ", not true");
  CHECK(refused("pid/gain", std::vector<double>{1}) == range + ", not [1.0]");
  CHECK(refused("pid/gain", std::nan("")) == range);
  CHECK(refused("pid/gain", 5.0) == "pid/gain cannot be 5.0: no fives");
  CHECK(refused("pid/gain", 3.0) == "pid/gain cannot be 3.0: three is too much");
  CHECK(refused("steps", 3.5) == "steps is a whole number from -32768 to 32767, not 3.5");
  CHECK(refused("steps", std::int64_t{40'000}) == "steps is a whole number from -32768 to 32767, not 40000");
  const auto read_only = pair.set("fixed", std::int64_t{4});
  CHECK(read_only.code() == errc::refused);
  CHECK_THAT(read_only.error().message(), contains("fixed is read-only"));
  CHECK(fixed.set(4));
  CHECK(*fixed == 4);
  // The same checks hold for the program itself.
  CHECK(gain.set(11).error().message() == range + ", not 11.0");
  CHECK(gain.set(std::nan("")).code() == errc::bad_argument);
  CHECK(gain.set(5).error().message() == "pid/gain cannot be 5.0: no fives");
  CHECK(*gain == 1.0);
  CHECK_FALSE(gain.changed());
  REQUIRE(gain.set(2));
  CHECK(wait_until([&] { return calls == 1; }));
}

TEMPLATE_TEST_CASE("parameters: callbacks come with the newest value", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  auto mode = pair.owner.template parameter<std::string>("mode", "auto");
  auto count = pair.owner.template parameter<int>("count", 0);
  std::mutex mutex;
  std::vector<std::string> heard;
  std::atomic<int> last{0};
  std::atomic<bool> own_thread{false};
  const auto here = std::this_thread::get_id();
  REQUIRE(mode.on_change([&](const std::string& value) {
    const std::lock_guard lock(mutex);
    heard.push_back(value);
    (void)count.set(static_cast<int>(heard.size()));
  }));
  REQUIRE(count.on_change([&](const int& value) {
    last = value;
    own_thread = std::this_thread::get_id() == here;
  }));
  REQUIRE(pair.set("mode", "off"));
  CHECK(wait_until([&] { return last == 1; }));
  CHECK_FALSE(own_thread);
  REQUIRE(pair.set("mode", "off"));  // no change
  REQUIRE(mode.set("slow"));
  CHECK(wait_until([&] { return last == 2; }));
  for (int n = 3; n <= 1000; ++n) REQUIRE(count.set(n));
  CHECK(wait_until([&] { return last == 1000; }));
  REQUIRE(mode.on_change({}));
  REQUIRE(mode.set("none hears it"));
  const std::lock_guard lock(mutex);
  CHECK(heard == std::vector<std::string>{"off", "slow"});
}

TEMPLATE_TEST_CASE("parameters: a new program begins with its own default", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  REQUIRE(pair.other.request_topic("pid/gain"));
  {
    orc::participant first(pair.options("first"));
    auto gain = first.parameter<double>("pid/gain", 1.0);
    REQUIRE(gain.result());
    REQUIRE(pair.set("pid/gain", 2.5));
    CHECK(arrives(pair.other, "pid/gain", R"({"value":2.5})"));
  }
  CHECK(pair.set("pid/gain", 3.0).code() == errc::unknown_topic);
  orc::participant second(pair.options("second"));
  auto gain = second.parameter<double>("pid/gain", 1.0);
  REQUIRE(gain.result());
  CHECK(arrives(pair.other, "pid/gain", R"({"value":1.0})"));
  CHECK(pair.get("pid/gain") == parameter_value(1.0));
}

TEMPLATE_TEST_CASE("parameters: saved ones are loaded by name", "[conformance][threads]",
                   ORC_TEST_PARAMETER_TRANSPORTS) {
  parameter_pair<TestType> pair;
  orc::participant third(pair.options("third"));
  auto gain = pair.owner.template parameter<double>("pid/gain", 1.0, {.max = 10});
  auto mode = pair.owner.template parameter<std::string>("pid/mode", "auto");
  auto fixed = pair.owner.template parameter<int>("pid/fixed", 1, {.read_only = true});
  auto speed = third.parameter<int>("motor/speed", 5);
  std::string toml;
  std::vector<orc::parameter_outcome> outcomes;
  REQUIRE(orc::cli::save_parameters(pair.other, pair.directory, "**", ample, toml, outcomes));
  CHECK(toml == "[motor]\nspeed = 5\n\n[pid]\ngain = 1.0\nmode = \"auto\"\n");
  CHECK(outcomes.size() == 3);
  REQUIRE(gain.set(7));
  REQUIRE(mode.set("off"));
  REQUIRE(speed.set(6));
  REQUIRE(orc::cli::load_parameters(pair.other, pair.directory, toml, ample, outcomes));
  for (const auto& each : outcomes) CHECK(each.outcome);
  CHECK(*gain == 1.0);
  CHECK(*mode == "auto");
  CHECK(*speed == 5);

  REQUIRE(orc::cli::load_parameters(
      pair.other, pair.directory,
      "[pid]\ngain = 11\nmode = 2020-01-01\nfixed = 3\ngone = 2020-01-01\nnone = 1\n[motor]\nspeed = 8", ample,
      outcomes));
  std::string all;
  for (const auto& each : outcomes) all += each.name + " " + std::to_string(int(each.outcome.code())) + "\n";
  const auto line = [](const char* name, errc code) {
    return std::string(name) + " " + std::to_string(int(code)) + "\n";
  };
  CHECK(all == line("motor/speed", errc::ok) + line("pid/fixed", errc::refused) + line("pid/gain", errc::bad_argument) +
                   line("pid/gone", errc::unknown_topic) + line("pid/mode", errc::bad_argument) +
                   line("pid/none", errc::unknown_topic));
  CHECK(*speed == 8);
  CHECK(orc::cli::load_parameters(pair.other, pair.directory, "x = ", ample, outcomes).code() == errc::bad_argument);
}
