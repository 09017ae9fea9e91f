// Participants in namespaces: services, parameters, shared topics, the directory, and withdrawal.
#include <algorithm>
#include <memory>
#include <string>

#include "orc/calls.h"
#include "orc/directory.h"
#include "orc/parameters.h"
#include "support/broker_process.h"
#include "support/call_peers.h"
#include "support/catch.h"
#include "support/wait_until.h"
#include "tools/parameter_files/parameter_files.h"

using namespace orc::test;
using orc::errc;

namespace {

[[nodiscard]] orc::participant in(const broker_process& address_broker, const std::string& name_space) {
  auto options = address_broker.options("in " + name_space);
  options.name_space = name_space;
  return orc::participant(std::move(options));
}

[[nodiscard]] std::vector<std::string> names(orc::directory& in, std::string_view pattern) {
  std::vector<orc::topic_state> found;
  REQUIRE(in.topics(pattern, found));
  std::vector<std::string> all;
  for (const auto& each : found) {
    if (!orc::is_reserved(each.name)) all.push_back(each.name);
  }
  return all;
}

[[nodiscard]] std::string text_of(const orc::call_result<std::vector<std::byte>>& got) {
  if (!got) return got.error().message();
  return {reinterpret_cast<const char*>(got->data()), got->size()};
}

// Answers with the text.
[[nodiscard]] auto saying(std::string text) {
  return [text = std::move(text)](std::span<const std::byte>, orc::call_context&) {
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
}

}  // namespace

TEST_CASE("namespaces: the directory has full names, and takes them with and without a slash",
          "[integration][threads]") {
  const broker_process address_broker;
  orc::participant seven = in(address_broker, "robot7");
  orc::participant eight = in(address_broker, "robot8");
  for (orc::participant* const each : {&seven, &eight}) REQUIRE(each->register_topic("pose"));
  REQUIRE(seven.request_topic("/estop"));
  orc::directory directory({.broker = address_broker.endpoint()});
  CHECK(names(directory, "**") == std::vector<std::string>{"estop", "robot7/pose", "robot8/pose"});
  CHECK(names(directory, "/**").size() == 3);
  CHECK(names(directory, seven.resolve("**")) == std::vector<std::string>{"robot7/pose"});
  orc::topic_state found;
  CHECK(directory.describe("pose", found).code() == errc::unknown_topic);
  REQUIRE(directory.describe(eight.resolve("pose"), found));
  CHECK(found.publication->participant.name == "in robot8");
  REQUIRE(directory.describe("/robot7/pose", found));
  CHECK(found.name == "robot7/pose");

  auto watch = directory.watch({.topics = {"/robot8/*"}});
  orc::directory_change change;
  REQUIRE(watch.next_change(change, patience_ms));
  CHECK(change.topic.name == "robot8/pose");
  REQUIRE(watch.next_change(change, patience_ms));
  CHECK(change.what == orc::directory_change::kind::complete);
}

TEST_CASE("namespaces: a topic is withdrawn by either of its names", "[integration][threads]") {
  const broker_process address_broker;
  orc::participant seven = in(address_broker, "robot7");
  orc::directory directory({.broker = address_broker.endpoint()});
  REQUIRE(seven.register_topic("pose"));
  REQUIRE(seven.request_topic("state"));
  CHECK(seven.unregister_topic("robot7/pose").code() == errc::not_registered);
  CHECK(seven.release_topic("/state").code() == errc::not_requested);
  CHECK(seven.unregister_topic("/robot7/pose"));
  CHECK(seven.release_topic("state"));
  CHECK_FALSE(seven.publisher("pose"));
  CHECK_FALSE(seven.subscriber("/robot7/state"));
  CHECK(wait_until([&] { return names(directory, "**").empty(); }));
}

TEST_CASE("namespaces: another participant's absolute name is taken, its relative one is not",
          "[integration][threads]") {
  const broker_process address_broker;
  orc::participant seven = in(address_broker, "robot7");
  orc::participant eight = in(address_broker, "robot8");
  REQUIRE(seven.register_topic("pose"));
  REQUIRE(eight.register_topic("pose"));
  const auto taken = eight.register_topic("/robot7/pose").result();
  CHECK(taken.code() == errc::name_taken);
  CHECK_THAT(taken.error().message(), contains("robot7/pose"));
  REQUIRE(seven.register_topic("/alarm", {.shared = true}));
  REQUIRE(eight.register_topic("/alarm", {.shared = true}));
  REQUIRE(eight.request_topic("/alarm", {.newest_of = orc::newest_of::each}).result());
  auto alarms = eight.subscriber("/alarm");
  REQUIRE(wait_until([&] {
    const auto known = alarms.publishers();
    return std::ranges::count_if(known, [](const auto& each) { return each.connected; }) == 2;
  }));
  REQUIRE(seven.send_msg("/alarm", "7", 1));
  CHECK(*static_cast<const char*>(alarms.recv(patience_ms).data()) == '7');
}

TEST_CASE("namespaces: services of robots with the same program", "[integration][threads]") {
  const broker_process address_broker;
  orc::participant seven = in(address_broker, "robot7");
  orc::participant eight = in(address_broker, "lab/robot8");
  orc::participant both = in(address_broker, "/");
  const auto service7 = seven.serve("who", saying("seven"));
  const auto service8 = eight.serve("who", saying("eight"));
  const auto shared = eight.serve("/lab/map", saying("map"));
  for (const orc::service* const each : {&service7, &service8, &shared}) REQUIRE(each->result());
  orc::participant client7 = in(address_broker, "robot7");
  const auto ask = [](orc::participant& by, const char* name) { return text_of(by.call(name, {}, ample).get()); };
  CHECK(client7.wait_for_service("who", patience));
  CHECK(ask(client7, "who") == "seven");
  CHECK(ask(seven, "/lab/robot8/who") == "eight");
  CHECK(ask(eight, "who") == "eight");
  CHECK(ask(both, "robot7/who") == "seven");
  CHECK(ask(client7, "/lab/map") == "map");
  CHECK(ask(client7, "/robot7/who") == "seven");
  CHECK(seven.serve("/robot7/who", saying("again")).result().code() == errc::name_taken);

  orc::directory directory({.broker = address_broker.endpoint()});
  std::vector<orc::service_description> found;
  REQUIRE(orc::find_services(directory, {}, found));
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "lab/map");
  CHECK(found[1].name == "lab/robot8/who");
  CHECK(found[2].name == "robot7/who");
  CHECK(ask(client7, ("/" + found[1].name).c_str()) == "eight");

  const std::string too_long(225, 'x');  // it fits without the namespace
  CHECK(seven.serve(too_long, saying("")).result().code() == errc::bad_name);
  CHECK(seven.wait_for_service(too_long, patience).code() == errc::bad_name);
}

TEST_CASE("namespaces: parameters of robots with the same program", "[integration][threads]") {
  const broker_process address_broker;
  orc::participant seven = in(address_broker, "robot7");
  orc::participant eight = in(address_broker, "robot8");
  auto gain7 = seven.parameter<double>("gain", 1.0, {});
  auto gain8 = eight.parameter<double>("gain", 1.0, {});
  auto limit = eight.parameter<double>("/limit", 1.0, {});
  REQUIRE(gain7.result());
  REQUIRE(gain8.result());
  REQUIRE(limit.result());
  orc::directory directory({.broker = address_broker.endpoint()});
  orc::participant tuner = in(address_broker, "robot7");
  orc::parameter_value value = 2.0;
  REQUIRE(orc::set_parameter(tuner, directory, tuner.resolve("gain"), ample, value));
  CHECK(*gain7 == 2.0);
  CHECK(*gain8 == 1.0);
  value = 3.0;
  REQUIRE(orc::set_parameter(tuner, directory, "robot8/gain", ample, value));
  value = 4.0;
  REQUIRE(orc::set_parameter(tuner, directory, "/limit", ample, value));
  CHECK(*gain8 == 3.0);
  CHECK(*limit == 4.0);

  std::vector<orc::parameter_description> listed;
  REQUIRE(orc::list_parameters(directory, tuner.resolve("**"), listed));
  REQUIRE(listed.size() == 1);
  CHECK(listed.front().name == "robot7/gain");
  std::string toml;
  std::vector<orc::parameter_outcome> outcomes;
  REQUIRE(orc::cli::save_parameters(tuner, directory, "**", ample, toml, outcomes));
  REQUIRE(gain7.set(9.0));
  REQUIRE(orc::cli::load_parameters(tuner, directory, toml, ample, outcomes));
  CHECK(*gain7 == 2.0);
  CHECK(outcomes.size() == 3);
  CHECK(seven.parameter<double>("/robot7/gain", 1.0, {}).result().code() == errc::name_taken);
}
