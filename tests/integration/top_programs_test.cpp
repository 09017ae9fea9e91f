// The services and the parameters that `orc top` shows.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "orc/calls.h"
#include "orc/parameters.h"
#include "support/call_peers.h"
#include "support/top_robot.h"

using namespace orc::test;

namespace {

bool has_row(const std::string& seen, const std::string& row) {
  return std::regex_search(seen, std::regex("(^|\n) *" + row));
}

// Whether a participant with this name is connected.
bool is_there(const broker_process& broker, const std::string& name) {
  orc::directory directory({.broker = broker.endpoint()});
  std::vector<orc::participant_state> found;
  REQUIRE(directory.participants(found));
  return std::ranges::any_of(found, [&](const auto& each) { return each.name == name; });
}

void check_row(tmux& shown, const std::string& row) {
  const bool seen = shown.waits_for([&](const std::string& text) { return has_row(text, row); });
  INFO(row << "\n" << shown.seen());
  CHECK(seen);
}

}  // namespace

TEST_CASE("orc top: s shows the services and what they count") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(140, 24);
  call_counts counts;
  orc::participant node(on.broker().options("gripper"));
  const orc::service service = node.serve("gripper/close", obeying(counts), {.interfaces = {"Gripper", "Tool"}});
  REQUIRE(service.result());
  orc::participant client(on.broker().options("client"));
  const auto call = [&](call_order order) {
    return client.call("gripper/close", bytes_of(call_request{order}), ample).get().code();
  };
  on.start("--color never");
  tmux& shown = on.terminal();
  CHECK_THAT(shown.seen(), contains("s services   p parameters"));
  shown.press({"s"});
  const std::string server = "gripper/close +gripper \\(" + std::to_string(::getpid()) + "\\)";
  const bool listed = shown.waits_for([&](const std::string& seen) {
    return has_row(seen, server + " +0 +0 +0 +bytes +bytes +Gripper, Tool") &&
           seen.find("Services 1") != std::string::npos;
  });
  INFO(shown.seen());
  CHECK(listed);
  CHECK(call(call_order::echo) == orc::call_errc::ok);
  CHECK(call(call_order::echo) == orc::call_errc::ok);
  CHECK(call(call_order::fail) == orc::call_errc::failed);
  const bool counted = shown.waits_for([&](const std::string& seen) { return has_row(seen, server + " +3 +1 +0 "); });
  INFO(shown.seen());
  CHECK(counted);

  shown.press({"-l", "/nothing"});
  CHECK(shown.shows("no service matches /nothing"));
  shown.press({"Escape"});
  CHECK(shown.shows("Services 1"));
  shown.press({"Enter"});  // the service's own topic
  CHECK(shown.shows("topic gripper/close"));
  shown.press({"Escape"});
  CHECK(shown.shows("Services 1"));
  CHECK(is_there(on.broker(), "orc top"));
  for (const char* const key : {"Escape", "s", "q"}) {
    INFO(key);
    shown.press({key});
    CHECK(shown.shows("1 Topics"));
    CHECK(wait_until([&] { return !is_there(on.broker(), "orc top"); }));
    shown.press({"s"});
    CHECK(shown.shows("Services 1"));
  }
  shown.press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: p shows the parameters and follows their values") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(160, 24);
  orc::participant node(on.broker().options("driver"));
  auto gain = node.parameter<double>("pid/gain", 1.5, {.min = 0, .max = 10, .unit = "N"});
  auto mode = node.parameter<std::string>("pid/mode", "auto", {.read_only = true});
  REQUIRE(gain.result());
  REQUIRE(mode.result());
  on.start("--color never");
  tmux& shown = on.terminal();
  shown.press({"p"});
  const auto shows = [&](const std::string& row) { check_row(shown, row); };
  shows("pid/gain +1\\.5 +a number from 0\\.0 to 10\\.0 N +driver \\(" + std::to_string(::getpid()));
  shows("pid/mode +auto +a text.*read-only");
  REQUIRE(gain.set(2.25));
  shows("pid/gain +2\\.25 ");
  shown.press({"s"});
  CHECK(shown.shows("the broker knows no service"));
  shown.press({"p"});
  shows("pid/gain +2\\.25 ");
  shown.press({"p"});
  CHECK(shown.shows("1 Topics"));
  shown.press({"q"});
  on.check_restored();
}

TEST_CASE("orc top: programs that do not answer delay neither the screen nor other parameters") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(100, 24);
  child_process peer({program("orc_test_parameter_peer"), on.broker().endpoint(), "ipc"});
  REQUIRE(peer.read_line() == "ready");
  orc::participant node(on.broker().options("driver"));
  auto count = node.parameter<int>("driver/count", 100);
  REQUIRE(count.result());
  std::atomic<bool> entered{false};
  std::atomic<bool> stuck{true};
  orc::participant stalled(on.broker().options("stalled"));
  auto value = stalled.parameter<int>("stalled/value", 5, {.validate = [&](const int& wanted) {
                                        entered = wanted == 6;
                                        if (entered) (void)wait_until([&] { return !stuck; });
                                        return std::string();
                                      }});
  REQUIRE(value.result());
  on.start("--color never");
  tmux& shown = on.terminal();
  shown.press({"p"});
  const auto shows = [&](const std::string& row) { check_row(shown, row); };
  shows("pid/gain +1\\.0 ");
  shows("stalled/value +5 ");
  const std::jthread setter([&] {
    orc::directory directory({.broker = on.broker().endpoint()});
    orc::parameter_value six = std::int64_t{6};
    (void)orc::set_parameter(node, directory, "stalled/value", ample, six);
  });
  REQUIRE(wait_until([&] { return entered.load(); }));
  shows("stalled/value +\\? ");
  // This one ends for the broker, too, some seconds later.
  REQUIRE(::kill(peer.pid(), SIGSTOP) == 0);
  CHECK(shown.waits_for([](const std::string& text) { return !has_row(text, "pid/gain +1\\.0 "); }));
  for (int n = 101; n < 104; ++n) {
    REQUIRE(count.set(n));
    shows("driver/count +" + std::to_string(n) + " ");
  }
  shows("stalled/value +\\? ");
  shown.press({"-l", "/count"});
  CHECK(shown.shows("Parameters 1/"));
  stuck = false;
  REQUIRE(::kill(peer.pid(), SIGCONT) == 0);
  shown.press({"Escape"});
  shows("stalled/value +6 ");
  shows("pid/gain +1\\.0 ");
  shown.press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: services and parameters cannot reach the terminal's controls") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(160, 24);
  const std::string evil = "\x1b]0;owned\x07\x9b";
  orc::participant node(on.broker().options("机器人 " + evil));
  auto text = node.parameter<std::string>("evil/text", "\x1b]0;owned\x07", {.description = "\x1b]0;owned\x07"});
  INFO(text.result().error().message());
  REQUIRE(text.result());
  // A service that tells nonsense of itself.
  orc::topic_options told;
  told.type = {.name = std::string(orc::service_type_name),
               .schema_encoding = "jsonschema",
               .message_encoding = "json",
               .schema = R"({"x-orc-service":{"request":null,"reply":null,"interfaces":["\u001b]0;owned\u0007"]}})"};
  REQUIRE(node.register_topic("evil/service", told));
  const std::string figures = R"({"clients":-1,"waiting":"\u001b[2J","calls":[],"failed":1e300})";
  REQUIRE(node.send_msg("evil/service", figures.data(), figures.size()));
  on.start("--color never");
  tmux& shown = on.terminal();
  shown.press({"s"});
  const bool listed = shown.waits_for([&](const std::string& seen) {
    return has_row(seen, "evil/service .* - +- +- +bytes") && seen.find("\\x1b]0;owned") != std::string::npos;
  });
  INFO(shown.seen());
  CHECK(listed);
  shown.press({"p"});
  const bool valued = shown.waits_for([&](const std::string& seen) {
    return has_row(seen, "evil/text .*x1b.*") && seen.find("机器人 \\") != std::string::npos;
  });
  INFO(shown.seen());
  CHECK(valued);
  CHECK(shown.state("#{pane_title}").find("owned") == std::string::npos);
  shown.press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: shows at most 256 services") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  orc::participant node(on.broker().options("many"));
  call_counts counts;
  std::vector<orc::service> services;
  for (int n = 0; n < 258; ++n) {
    services.push_back(
        node.serve("service/" + std::to_string(n), obeying(counts), {.transports = {orc::transport::ipc}}));
    REQUIRE(services.back().result());
  }
  on.start("--color never");
  on.terminal().press({"s"});
  CHECK(on.terminal().shows("Services 256   … 2 more are not shown"));
  on.terminal().press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: shows at most 256 parameters of a program, and those of others") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on(100, 24);
  orc::participant node(on.broker().options("many"));
  orc::participant other(on.broker().options("other"));
  std::vector<orc::parameter<int>> parameters;
  for (int n = 0; n < 258; ++n) {
    parameters.push_back(node.parameter<int>("parameter/" + std::to_string(n), n));
    REQUIRE(parameters.back().result());
  }
  auto last = other.parameter<int>("the/other", 77);
  REQUIRE(last.result());
  on.start("--color never");
  tmux& shown = on.terminal();
  shown.press({"p"});
  CHECK(shown.shows("Parameters 257   … 2 more are not shown"));
  shown.press({"End"});
  const bool shows_other =
      shown.waits_for([](const std::string& seen) { return has_row(seen, "the/other +77 .*other \\("); });
  INFO(shown.seen());
  CHECK(shows_other);
  shown.press({"C-c"});
  on.check_restored();
}
