// Lists leave ORC's own topics out, unless asked.
#include "orc/calls.h"
#include "support/orc_tool.h"
#include "tools/view/snapshot.h"

using namespace orc::test;

namespace {

// A program with a topic and a service that has a client.
struct running {
  broker_process broker;
  tool orc{broker};
  orc::participant server{broker.options("server")};
  orc::participant client{broker.options("client")};
  orc::service service = server.serve(
      "gripper/close", [](std::span<const std::byte>, orc::call_context&) { return std::vector<std::byte>(); });
  orc::service own = server.serve(".parameters/0123456789abcdef", [](std::span<const std::byte>, orc::call_context&) {
    return std::vector<std::byte>();
  });

  running() {
    REQUIRE(server.register_topic("arm"));
    REQUIRE(service.result());
    REQUIRE(own.result());
    REQUIRE(client.wait_for_service("gripper/close", patience));
  }
};

}  // namespace

TEST_CASE("reserved names: orc topic list and orc service list leave them out", "[integration]") {
  const running system;
  CHECK(system.orc.run("$orc topic list").out == "arm\ngripper/close\n");
  const auto all = system.orc.run("$orc topic list --all").out;
  CHECK_THAT(all, contains(".parameters/0123456789abcdef\narm\ngripper/close\ngripper/close/.call/"));
  CHECK_THAT(all, contains("gripper/close/.reply/"));
  CHECK(system.orc.run("$orc topic list --json").out.find("/.call/") == std::string::npos);
  CHECK(system.orc.run("$orc topic list --json --all").out.find("/.call/") != std::string::npos);
  CHECK(system.orc.run("$orc topic list -v").out.find("/.call/") == std::string::npos);
  CHECK(system.orc.run("$orc service list").out == "gripper/close\n");
  CHECK(system.orc.run("$orc service list --all").out == ".parameters/0123456789abcdef\ngripper/close\n");
}

TEST_CASE("reserved names: orc top leaves them out", "[integration]") {
  const running system;
  const auto some = system.orc.run("$orc top --once").out;
  CHECK_THAT(some, contains("gripper/close"));
  CHECK(some.find("/.call/") == std::string::npos);
  CHECK(some.find(".parameters/") == std::string::npos);
  const auto all = system.orc.run("$orc top --once --all").out;
  CHECK_THAT(all, contains("gripper/close/.call/"));
  CHECK_THAT(all, contains(".parameters/"));
}

TEST_CASE("reserved names: a snapshot, of which orc-web and orc top are made, has them when asked", "[integration]") {
  const running system;
  orc::directory from({.broker = system.broker.endpoint()});
  orc::view::snapshot found;
  REQUIRE(orc::view::take_snapshot(from, false, found));
  REQUIRE(found.topics.size() == 2);
  CHECK(found.topics[0].name == "arm");
  CHECK(found.topics[1].name == "gripper/close");
  REQUIRE(orc::view::take_snapshot(from, true, found));
  CHECK(found.topics.size() == 5);
}
