// Parameters: what can go wrong around them, in one process and several.
#include <atomic>
#include <cmath>
#include <future>
#include <set>
#include <thread>

#include "orc/calls.h"
#include "orc/parameters.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"
#include "tools/parameter_files/parameter_files.h"

using namespace orc::test;
using orc::errc;
using orc::parameter_value;

namespace {

using namespace std::chrono_literals;
constexpr std::chrono::nanoseconds ample = patience;

struct system_of_two {
  broker_process address_broker;
  orc::participant owner{address_broker.options("owner")};
  orc::participant other{address_broker.options("other")};
  orc::directory directory{{.broker = address_broker.endpoint()}};

  [[nodiscard]] orc::result set(const std::string& name, parameter_value value,
                                std::chrono::nanoseconds limit = ample) {
    return orc::set_parameter(other, directory, name, limit, value);
  }
};

[[nodiscard]] child_process start_peer(const broker_process& broker, const std::string& transport,
                                       const std::string& prefix = "pid") {
  child_process peer({program("orc_test_parameter_peer"), broker.endpoint(), transport, prefix});
  const auto line = peer.read_line();
  REQUIRE(line == "ready");
  return peer;
}

[[nodiscard]] orc::participant_state owner_of(system_of_two& system, const std::string& name) {
  orc::topic_state topic;
  REQUIRE(system.directory.describe(name, topic));
  return topic.publication->participant;
}

[[nodiscard]] std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("parameters: wrong options are refused, and the value is there all the same", "[integration][threads]") {
  system_of_two system;
  const auto code = [](const auto& parameter) {
    CHECK_FALSE(parameter);
    CHECK_FALSE(parameter.error().message().empty());
    return parameter.result().code();
  };
  auto& node = system.owner;
  CHECK(code(node.parameter<double>("g", 1, {.min = 2})) == errc::bad_argument);
  CHECK(code(node.parameter<double>("g", std::nan(""))) == errc::bad_argument);
  CHECK(code(node.parameter<double>("g", 1, {.min = 2, .max = 1})) == errc::bad_argument);
  CHECK(code(node.parameter<double>("g", 1, {.max = INFINITY})) == errc::bad_argument);
  CHECK(code(node.parameter<bool>("g", true, {.min = 0})) == errc::bad_argument);
  CHECK(code(node.parameter<std::string>("g", "long", {.max_length = 3})) == errc::bad_argument);
  CHECK(code(node.parameter<std::string>("g", "", {.max_length = 5000})) == errc::bad_argument);
  CHECK(code(node.parameter<std::string>("g", "\xff")) == errc::bad_argument);
  CHECK(code(node.parameter<std::string>("g", "a", {.choices = {"b"}})) == errc::bad_argument);
  CHECK(code(node.parameter<int>("g", 1, {.max = 3, .choices = {1, 4}})) == errc::bad_argument);
  CHECK(code(node.parameter<int>("g", 1, {.choices = std::vector<int>(300, 1)})) == errc::bad_argument);
  CHECK(code(node.parameter<int>("g", 1, {.description = std::string(2000, 'x')})) == errc::bad_argument);
  CHECK(code(node.parameter<int>("g", 1, {.unit = std::string(33, 'x')})) == errc::bad_argument);
  CHECK(code(node.parameter<int>("g", 1, {.validate = [](const int&) { return std::string("no"); }})) ==
        errc::bad_argument);
  CHECK(code(node.parameter<int>("a/.b", 1)) == errc::bad_name);
  CHECK(code(node.parameter<int>("a b", 1)) == errc::bad_name);
  CHECK(code(node.parameter<int>("", 1)) == errc::bad_name);
  auto kept = node.parameter<double>("g", 3, {.max = 2});
  CHECK(*kept == 3);
  CHECK(kept.set(1).code() == errc::not_registered);
  CHECK(kept.on_change([](const double&) {}).code() == errc::not_registered);
  orc::parameter<int> none;
  CHECK(*none == 0);
  CHECK(none.set(1).code() == errc::not_registered);
  CHECK(node.parameter<double>("g", 1).result());
}

TEST_CASE("parameters: one program at a time has a name", "[integration][threads]") {
  system_of_two system;
  auto first = system.owner.parameter<int>("g", 1);
  CHECK(system.owner.parameter<int>("g", 1).result().code() == errc::name_taken);
  CHECK(system.other.parameter<int>("g", 1).result().code() == errc::name_taken);
  CHECK(system.set("g", std::int64_t{2}));
  CHECK(*first == 2);
  REQUIRE(system.owner.register_topic("plain"));
  CHECK(system.owner.parameter<int>("plain", 1).result().code() == errc::bad_argument);
  const auto topic = system.set("plain", std::int64_t{2});
  CHECK(topic.code() == errc::unknown_topic);
  CHECK_THAT(topic.error().message(), contains("plain is a topic, not a parameter"));
  first = {};
  CHECK(system.set("g", std::int64_t{2}).code() == errc::unknown_topic);
  CHECK(system.other.parameter<int>("g", 1).result());
  orc::participant alone({.broker = "none"});
  CHECK(alone.parameter<int>("g", 1).result().code() == errc::bad_argument);
}

TEST_CASE("parameters: a handle can outlive its participant, and be moved", "[integration][threads]") {
  broker_process address_broker;
  orc::parameter<std::string> mode;
  {
    orc::participant node(address_broker.options("owner"));
    mode = node.parameter<std::string>("mode", "auto");
    auto moved = std::move(mode);
    CHECK_FALSE(mode);
    CHECK(moved.set("off"));
    CHECK(*mode == "off");
    orc::participant elsewhere = std::move(node);
    CHECK(moved.set("on"));
    mode = std::move(moved);
  }
  CHECK(*mode == "on");
  CHECK(mode.set("off").code() == errc::closed);
  CHECK(*mode == "off");
  CHECK(mode.on_change([](const std::string&) {}).code() == errc::closed);
}

TEST_CASE("parameters: a callback ends with its handle, also from within", "[integration][threads]") {
  system_of_two system;
  std::atomic<int> heard{0};
  std::atomic<bool> go{false};
  {
    auto gain = system.owner.parameter<int>("g", 1);
    REQUIRE(gain.on_change([&](const int& value) {
      ++heard;
      (void)wait_until([&] { return go.load(); });
      heard = value;
    }));
    REQUIRE(gain.set(7));
    REQUIRE(wait_until([&] { return heard == 1; }));
    go = true;
  }  // waits for it
  CHECK(heard == 7);
  auto self = std::make_unique<orc::parameter<int>>(system.owner.parameter<int>("g", 1));
  std::atomic<bool> replaced{false};
  REQUIRE(self->on_change([&](const int&) { replaced = static_cast<bool>(self->on_change({})); }));
  REQUIRE(self->set(2));
  CHECK(wait_until([&] { return replaced.load(); }));
}

TEST_CASE("parameters: many threads set and read", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 0);
  auto mode = system.owner.parameter<std::string>("mode", "aaaa");
  std::atomic<int> calls{0};
  REQUIRE(mode.on_change([&](const std::string&) { ++calls; }));
  std::atomic<bool> stop{false};
  std::atomic<bool> torn{false};
  std::vector<std::jthread> threads;
  for (int n = 0; n < 2; ++n) {
    threads.emplace_back([&] {
      while (!stop) {
        const std::string text = mode.get();
        if (text.size() != 4 || std::set(text.begin(), text.end()).size() != 1) torn = true;
        if (gain.get() < 0) torn = true;
      }
    });
    threads.emplace_back([&, n] {
      for (std::size_t i = 0; i < rounds(2'000, 50'000); ++i) {
        (void)mode.set(std::string(4, static_cast<char>('a' + static_cast<int>(i + std::size_t(n)) % 26)));
        (void)gain.set(static_cast<double>(i));
      }
    });
  }
  for (std::size_t i = 0; i < rounds(200, 2'000); ++i)
    CHECK(system.set("mode", std::string(4, i % 2 == 0 ? 'x' : 'y')));
  threads[1].join();
  threads[3].join();
  stop = true;
  threads.clear();
  CHECK_FALSE(torn);
  CHECK(calls > 0);
  REQUIRE(mode.set("last"));
  parameter_value value;
  REQUIRE(orc::get_parameter(system.other, system.directory, "mode", ample, value));
  CHECK(value == parameter_value("last"));
}

TEST_CASE("parameters: another process sets them over each transport", "[integration][threads]") {
  const auto transport = GENERATE(orc::transport::ipc, orc::transport::tcp, orc::transport::shm);
  broker_process address_broker;
  auto peer = start_peer(address_broker, std::string(to_string(transport)));
  auto options = address_broker.options("other");
  options.transports = {transport};
  orc::participant other(options);
  orc::directory directory({.broker = address_broker.endpoint()});
  REQUIRE(other.request_topic("pid/gain", {.connected_within = patience}).result());
  parameter_value value = 2.5;
  const auto done = orc::set_parameter(other, directory, "pid/gain", ample, value);
  INFO(done.error().message());
  REQUIRE(done);
  CHECK(peer.read_line() == "gain 2.5");
  CHECK(wait_until([&] {
    const orc::message sample = other.recv_msg("pid/gain", 0);
    return sample && std::string_view(static_cast<const char*>(sample.data()), sample.size()) == R"({"value":2.5})";
  }));
}

TEST_CASE("parameters: a killed owner fails calls, and its successor answers them", "[integration][threads]") {
  broker_process address_broker;
  auto peer = start_peer(address_broker, "ipc");
  orc::participant other(address_broker.options("other"));
  orc::directory directory({.broker = address_broker.endpoint()});
  parameter_value value = 2.5;
  REQUIRE(orc::set_parameter(other, directory, "pid/gain", ample, value));

  peer.freeze();
  value = 3.5;
  const auto late = orc::set_parameter(other, directory, "pid/gain", 100ms, value);
  CHECK(late.code() == errc::timed_out);
  CHECK_THAT(late.error().message(), contains("pid/gain"));
  CHECK(value == parameter_value(3.5));
  peer.kill();
  CHECK(wait_until(
      [&] { return orc::get_parameter(other, directory, "pid/gain", ample, value).code() == errc::unknown_topic; }));

  auto successor = start_peer(address_broker, "ipc");
  const auto got = orc::get_parameter(other, directory, "pid/gain", ample, value);
  INFO(got.error().message());
  REQUIRE(got);
  CHECK(value == parameter_value(1.0));
}

TEST_CASE("parameters: a set can go on while its caller does other things", "[integration][threads]") {
  system_of_two system;
  const auto start = [&](const std::string& name, parameter_value value, std::chrono::nanoseconds limit = ample) {
    auto promise = std::make_shared<std::promise<orc::parameter_outcome>>();
    auto outcome = promise->get_future();
    orc::start_set_parameter(system.other, system.directory, name, limit, std::move(value),
                             [promise](orc::parameter_outcome ended) { promise->set_value(std::move(ended)); });
    return outcome;
  };
  std::promise<void> let_go;
  const auto released = let_go.get_future().share();
  auto gain = system.owner.parameter<double>(
      "gain", 1, {.max = 10, .validate = [released](const double& value) -> std::string {
                    if (value != 5) return {};
                    return released.wait_for(patience) == std::future_status::ready ? "" : "the set was waited for";
                  }});
  REQUIRE(gain);

  auto held = start("gain", 5.0);
  CHECK(held.wait_for(0s) == std::future_status::timeout);
  let_go.set_value();
  const orc::parameter_outcome done = held.get();
  CHECK(done.outcome);
  CHECK(done.name == "gain");
  CHECK(done.value == parameter_value(5.0));
  CHECK(*gain == 5);

  const orc::parameter_outcome refused = start("gain", 11.0).get();
  CHECK(refused.outcome.code() == errc::bad_argument);
  CHECK(refused.outcome.error().message().find("10") != std::string::npos);
  CHECK(start("other", 1.0).get().outcome.code() == errc::unknown_topic);
  CHECK(start("no name", 1.0).get().outcome.code() == errc::bad_name);
}

TEST_CASE("parameters: a set and a question are given up", "[integration][threads]") {
  system_of_two system;
  std::promise<void> entered;
  std::promise<void> let_go;
  const auto released = let_go.get_future().share();
  auto gain = system.owner.parameter<double>("gain", 1, {.validate = [&](const double& value) -> std::string {
                                               if (value == 5) entered.set_value();
                                               if (value == 5) (void)released.wait_for(patience);
                                               return {};
                                             }});
  std::stop_source stop;
  auto set = std::async(std::launch::async, [&] {
    parameter_value value = 5.0;
    return orc::set_parameter(system.other, system.directory, "gain", ample, value, stop.get_token());
  });
  CHECK(entered.get_future().wait_for(patience) == std::future_status::ready);
  stop.request_stop();
  CHECK(set.get().code() == errc::timed_out);
  std::vector<orc::parameter_outcome> outcomes;
  CHECK(orc::get_parameters(system.other, system.directory, {{.name = "gain", .owner = owner_of(system, "gain")}},
                            ample, outcomes, stop.get_token()));
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes.front().outcome.code() == errc::timed_out);
  let_go.set_value();
}

TEST_CASE("parameters: a broker that restarts learns of them again", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 1);
  REQUIRE(system.set("gain", 2.0));
  system.address_broker.restart();
  CHECK(wait_until([&] { return static_cast<bool>(system.set("gain", 3.0)); }));
  CHECK(*gain == 3.0);
}

TEST_CASE("parameters: a child of fork cannot use them", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 2);
  REQUIRE(gain.on_change([](const double&) {}));
  auto child = orc::detail::child_process::run([&] {
    if (gain.get() != 2) return 1;
    if (gain.set(3).code() != errc::forked) return 2;
    if (gain.on_change({}).code() != errc::forked) return 3;
    if (system.owner.parameter<int>("other", 1).result().code() != errc::forked) return 4;
    gain = {};
    return 0;
  });
  const auto status = child.wait(patience);
  REQUIRE(status);
  CHECK(*status == 0);
  CHECK(system.set("gain", 4.0));
  CHECK(*gain == 4.0);
}

TEST_CASE("parameters: requests of strangers are answered or refused", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 1.0, {.max = 10});
  std::vector<orc::topic_state> topics;
  REQUIRE(system.directory.topics(".parameters/*", topics));
  REQUIRE(topics.size() == 1);
  const std::string service = topics.front().name;
  for (const std::string request :
       {"", "{", "[]", "7", "null", R"("gain")", R"({"value":2})", R"({"name":7})",
        R"({"name":"gain","value":2,"x":1})", R"({"name":"gain","valu":2})", R"({"name":"none","value":2})",
        R"({"name":"\u0000"})", "{\"name\":\"\xff\"}", R"({"name":"gain","value":null})",
        R"({"name":"gain","value":{}})", R"({"name":"gain","value":[[1]]})", R"({"name":"gain","value":1e999})",
        R"({"name":"gain","value":11})"}) {
    INFO(request);
    const auto reply = system.other.call(service, bytes(request), ample).get();
    CHECK(reply.code() == orc::call_errc::failed);
    CHECK(reply.error().number >= 1);
    CHECK(reply.error().number <= 4);
    CHECK_FALSE(reply.error().text.empty());
  }
  for (const std::string& request :
       {std::string(300'000, '['), std::string(2'000'000, ' '), R"({"name":")" + std::string(200'000, 'x') + "\"}"}) {
    const auto reply = system.other.call(service, bytes(request), ample).get();
    CHECK_FALSE(reply);
    CHECK(reply.error().text.size() < 300);
  }
  CHECK(*gain == 1.0);
  const auto good = system.other.call(service, bytes(R"({"name":"gain","value":2})"), ample).get();
  INFO(good.error().message());
  REQUIRE(good);
  CHECK(std::string_view(reinterpret_cast<const char*>(good->data()), good->size()) == R"({"value":2.0})");
}

TEST_CASE("parameters: descriptions and answers of strangers are left out or fail", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 1.0, {.max = 10, .unit = "N", .description = "text"});
  const auto pretend = [&](const char* name, std::string schema) {
    REQUIRE(system.other.register_topic(
        name, {.type = {std::string(orc::parameter_type_name), "jsonschema", "json", std::move(schema)}}));
  };
  pretend("fake/empty", "");
  pretend("fake/none", "{}");
  pretend("fake/large", std::string(500'000, ' ') + "{}");
  pretend("fake/good", R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1}}})");
  std::vector<orc::parameter_description> found;
  REQUIRE(wait_until([&] {
    REQUIRE(orc::list_parameters(system.directory, "**", found));
    return found.size() == 2;
  }));
  CHECK(found[0].name == "fake/good");
  CHECK(found[1].name == "gain");
  CHECK(found[1].unit == "N");
  CHECK(found[1].description == "text");
  CHECK(found[1].owner.name == "owner");
  orc::parameter_description one;
  CHECK(orc::describe_parameter(system.directory, "fake/none", one).code() == errc::unknown_type);
  CHECK(orc::describe_parameter(system.directory, "nothing", one).code() == errc::unknown_topic);
  CHECK(orc::describe_parameter(system.directory, "a b", one).code() == errc::bad_name);
  REQUIRE(orc::describe_parameter(system.directory, "gain", one));
  CHECK(one.max == parameter_value(10.0));

  // The program of fake/good has no service, or one that answers anything.
  CHECK(system.set("fake/good", 2.0).code() == errc::unknown_topic);
  const auto liar =
      system.other.serve(".parameters/0123456789abcdef", [](std::span<const std::byte>, orc::call_context&) {
        const std::string_view lie = R"({"value":{"value":1}})";
        const auto data = std::as_bytes(std::span(lie));
        return std::vector<std::byte>(data.begin(), data.end());
      });
  REQUIRE(liar.result());
  parameter_value value = 2.0;
  const auto lied = orc::set_parameter(system.owner, system.directory, "fake/good", ample, value);
  CHECK(lied.code() == errc::refused);
  CHECK(value == parameter_value(2.0));
  CHECK(orc::cli::load_parameters(system.other, system.directory, "gain = 2", ample,
                                  *std::make_unique<std::vector<orc::parameter_outcome>>()));
  CHECK(*gain == 2.0);
}

TEST_CASE("parameters: a program has many, and one service for all of them", "[integration][threads]") {
  system_of_two system;
  const std::size_t count = rounds(600, 2'000, 40);
  std::vector<orc::parameter<int>> all;
  std::string toml;
  for (std::size_t n = 0; n < count; ++n) {
    all.push_back(system.owner.parameter<int>("many/p" + std::to_string(n), 0));
    REQUIRE(all.back().result());
    toml += "many.p" + std::to_string(n) + " = " + std::to_string(n + 1) + "\n";
  }
  std::vector<orc::parameter_outcome> outcomes;
  REQUIRE(orc::cli::load_parameters(system.other, system.directory, toml, ample, outcomes));
  REQUIRE(outcomes.size() == count);
  for (const auto& each : outcomes) {
    INFO(each.outcome.error().message());
    CHECK(each.outcome);
  }
  for (std::size_t n = 0; n < count; ++n) CHECK(*all[n] == static_cast<int>(n + 1));
  std::vector<orc::topic_state> services;
  REQUIRE(system.directory.topics(".parameters/*", services));
  CHECK(services.size() == 1);
}

TEST_CASE("parameters: a program that does not answer takes no time from others", "[integration][threads]") {
  system_of_two system;
  auto gain = system.owner.parameter<double>("gain", 1.0);
  const std::string schema = R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1}}})";
  const std::string type(orc::parameter_type_name);
  for (int n = 0; n < 600; ++n)  // all of them before gain
    REQUIRE(system.other.register_topic("a/" + std::to_string(n), {.type = {type, "jsonschema", "json", schema}}));
  REQUIRE(system.other.register_topic(".parameters/0123456789abcdef"));  // which no program serves
  std::vector<orc::parameter_description> found;
  REQUIRE(wait_until([&] { return orc::list_parameters(system.directory, "**", found) && found.size() == 601; }));
  orc::participant asks(system.address_broker.options("asks"));
  std::vector<orc::parameter_outcome> outcomes;
  CHECK(wait_until([&] {
    REQUIRE(orc::get_parameters(asks, system.directory, found, 1s, outcomes));
    return static_cast<bool>(outcomes.back().outcome);
  }));
  CHECK(outcomes.size() == 601);
  CHECK(outcomes.back().value == parameter_value(1.0));
  CHECK(outcomes.front().outcome.code() == errc::timed_out);
}
