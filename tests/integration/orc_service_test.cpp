// `orc service`: list, info, call.
#include <signal.h>
#include <unistd.h>

#include <regex>
#include <stdexcept>
#include <string>

#include "orc/calls.h"
#include "orc/typed.h"
#include "support/call_peers.h"
#include "support/orc_tool.h"

namespace gripper {

struct close_request {
  double force;
  std::int32_t times;
};
ORC_DESCRIBE(close_request, force, times)

struct close_reply {
  double width;
  char note[8];
};
ORC_DESCRIBE(close_reply, width, note)

}  // namespace gripper

using namespace orc::test;

namespace {

// A typed and an untyped service.
struct served {
  explicit served(const broker_process& broker) : node(broker.options("gripper")) {
    typed = node.serve<gripper::close_request, gripper::close_reply>(
        "gripper/close",
        [](const gripper::close_request& request, orc::call_context& context) -> gripper::close_reply {
          if (request.force < 0) throw std::out_of_range("force is below 0");
          if (request.times == 7) context.fail(7, "it slipped");
          return {.width = request.force / 2, .note = "closed"};
        },
        {.interfaces = {"Gripper", "Tool"}});
    bytes = node.serve("bytes", obeying(counts));
    REQUIRE(typed.result());
    REQUIRE(bytes.result());
  }

  call_counts counts;
  orc::participant node;
  orc::service typed;
  orc::service bytes;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("orc service list names the services, with their types and interfaces, and finds by interface") {
  const broker_process broker;
  const tool orc(broker);
  CHECK(orc.run("$orc service list").out.empty());
  served services(broker);
  REQUIRE(services.node.register_topic("no/service"));
  CHECK(orc.run("$orc service list").out == "bytes\ngripper/close\n");
  CHECK(orc.run("$orc service list --interface Tool").out == "gripper/close\n");
  CHECK(orc.run("$orc service list --interface Toolbox").out.empty());
  const auto verbose = orc.run("$orc service list -v");
  CHECK(has(verbose.out, "gripper (" + std::to_string(::getpid())));
  CHECK(has(verbose.out, "gripper.close_request (struct"));
  CHECK(has(verbose.out, "Gripper, Tool"));
  const auto json = orc.run("$orc service list --json");
  CHECK(is_json(orc, json.out));
  CHECK(has(json.out, R"("interfaces":["Gripper","Tool"])"));
}

TEST_CASE("orc service info shows the server and how many calls it has served") {
  const broker_process broker;
  const tool orc(broker);
  served services(broker);
  REQUIRE(orc.run("$orc service call gripper/close").exit_code == 0);
  CHECK(wait_until([&] {
    const auto info = orc.run("$orc service info gripper/close");
    return info.exit_code == 0 && std::regex_search(info.out, std::regex("calls +1\n")) &&
           has(info.out, "gripper.close_reply (struct");
  }));
  CHECK(is_json(orc, orc.run("$orc service info gripper/close --json").out));
  const auto wrong = orc.run("$orc service info gripper/clos");
  CHECK(wrong.exit_code == 3);
  CHECK(has(wrong.err, "did you mean gripper/close?"));
  REQUIRE(services.node.register_topic("no/service"));
  const auto topic = orc.run("$orc service info no/service");
  CHECK(topic.exit_code == 3);
  CHECK(has(topic.err, "no/service is a topic, not a service"));
}

TEST_CASE("orc service info takes only numbers from a stranger's figures") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant stranger(broker.options("stranger"));
  const std::string schema = R"({"x-orc-service":{"request":null,"reply":null,"interfaces":[]}})";
  REQUIRE(
      stranger.register_topic("bomb", {.type = {std::string(orc::service_type_name), "jsonschema", "json", schema}}));
  const auto show = [&](const std::string& figures) {
    REQUIRE(stranger.send_msg("bomb", figures.data(), figures.size()));
    return orc.run("$orc service info bomb --json");
  };
  REQUIRE(wait_until([&] { return show("{}").exit_code == 0; }));
  const std::string deep(20'000, '[');
  const auto numbers = show(R"({"calls":3,"text":"x","deep":)" + deep + std::string(20'000, ']') + "}");
  CHECK(numbers.exit_code == 0);
  CHECK(has(numbers.out, R"("figures":{"calls":3})"));
  for (const std::string& bad : {"{\"calls\":" + std::string(4'000'000, '['), deep, std::string("3"),
                                 "{\"calls\":1," + std::string(1'000'000, ' ') + "\"failed\":1}"}) {
    const auto none = show(bad);
    CHECK(none.exit_code == 0);
    CHECK(has(none.out, R"("figures":{})"));
  }
}

TEST_CASE("orc service call sends JSON and prints the reply") {
  const broker_process broker;
  const tool orc(broker);
  served services(broker);
  const auto replied = orc.run(R"($orc service call gripper/close '{"force": 20}')");
  INFO(replied.out << replied.err);
  CHECK(replied.exit_code == 0);
  CHECK(has(replied.out, R"("width": 10)"));
  CHECK(has(replied.out, R"("note": "closed")"));
  const auto json = orc.run(R"($orc service call gripper/close --json '{"force": 20}')");
  CHECK(is_json(orc, json.out));
  CHECK(has(json.out, R"("reply":{"width":10)"));

  const auto refused = orc.run(R"($orc service call gripper/close '{"forse": 20}')");
  CHECK(refused.exit_code == 2);
  CHECK(has(refused.err, "forse"));
}

TEST_CASE("orc service call reports errors of the handler") {
  const broker_process broker;
  const tool orc(broker);
  served services(broker);
  const auto thrown = orc.run(R"($orc service call gripper/close '{"force": -1}')");
  CHECK(thrown.exit_code == 1);
  CHECK(thrown.err == "orc: gripper/close: the handler threw std::out_of_range: force is below 0\n");
  const auto failed = orc.run(R"($orc service call gripper/close '{"times": 7}')");
  CHECK(failed.exit_code == 1);
  CHECK(failed.err == "orc: gripper/close: it slipped (7)\n");
  const auto json = orc.run(R"($orc service call --json gripper/close '{"times": 7}')");
  CHECK(json.exit_code == 1);
  CHECK(is_json(orc, json.out));
  CHECK(has(json.out, R"("number":7)"));
}

TEST_CASE("orc service call takes bytes where there are no types, shows feedback, and ends at the deadline") {
  const broker_process broker;
  const tool orc(broker);
  served services(broker);
  // call_request: order, argument and number, of 4, 4 and 8 bytes
  const std::string echo = "00000000 00000000 0100000000000000";
  const auto echoed = orc.run("$orc service call bytes --hex " + echo);
  CHECK(echoed.exit_code == 0);
  CHECK(has(echoed.out, "01"));
  const auto counted = orc.run("$orc service call bytes --hex --feedback 06000000 03000000 0000000000000000");
  CHECK(counted.exit_code == 0);
  CHECK(has(counted.err, "feedback: "));
  const auto late = orc.run("$orc service call bytes --hex --deadline 0.2s 03000000 00000000 0000000000000000");
  CHECK(late.exit_code == 4);
  CHECK(wait_until([&] { return services.counts.cancelled == 1; }));
}

TEST_CASE("orc service call: Ctrl-C cancels the call") {
  const broker_process broker;
  const tool orc(broker);
  served services(broker);
  auto call = orc.start({"service", "call", "bytes", "--hex", "03000000", "00000000", "0000000000000000"});
  REQUIRE(wait_until([&] { return services.counts.started == 1; }));
  call.send_signal(SIGINT);
  CHECK(exit_code_of(call) == 130);
  CHECK(wait_until([&] { return services.counts.cancelled == 1; }));
}
