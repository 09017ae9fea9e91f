// orc param, against a program with parameters in a process of its own.
#include <csignal>
#include <fstream>
#include <sstream>

#include "support/orc_tool.h"

using namespace orc::test;

namespace {

struct running {
  broker_process broker;
  tool orc{broker};
  child_process peer{{program("orc_test_parameter_peer"), broker.endpoint(), "ipc"}};

  running() { REQUIRE(peer.read_line() == "ready"); }

  [[nodiscard]] std::string out_of(const std::string& command) const {
    const auto done = orc.run(command);
    INFO(command);
    CHECK(done.err.empty());
    CHECK(done.exit_code == 0);
    return done.out;
  }
  void fails(const std::string& command, int code, const std::string& text) const {
    const auto done = orc.run(command);
    INFO(command);
    CHECK(done.out.empty());
    CHECK(done.exit_code == code);
    CHECK_THAT(done.err, contains(text));
    CHECK(done.err.starts_with("orc: "));
  }
};

}  // namespace

TEST_CASE("orc param: lists", "[integration]") {
  const running system;
  CHECK(system.out_of("$orc param list") ==
        "pid/even\npid/gain\npid/gains\npid/mode\npid/on\npid/steps\npid/version\n");
  CHECK(system.out_of("$orc param list 'pid/g*'") == "pid/gain\npid/gains\n");
  CHECK(system.out_of("$orc param list none").empty());
  const std::string table = system.out_of("$orc param list -v");
  CHECK_THAT(table, contains("PARAMETER"));
  CHECK_THAT(table, contains("pid/gain     1.0"));
  CHECK_THAT(table, contains("a number from 0.0 to 10.0 N"));
  CHECK_THAT(table, contains("of the inner loop"));
  CHECK_THAT(table, contains("parameter peer ("));
  CHECK_THAT(table, contains("read-only"));
  const std::string json = system.out_of("$orc param list --json");
  CHECK(is_json(system.orc, json));
  CHECK_THAT(json, contains(R"("parameter":"pid/gains","default":[1.0,2.0])"));
  CHECK_THAT(json, contains(R"("value":[1.0,2.0])"));
  system.fails("$orc param list 'a b'", 2, "not a pattern");
}

TEST_CASE("orc param: gets and sets", "[integration]") {
  running system;
  CHECK(system.out_of("$orc param get pid/gain") == "1.0\n");
  CHECK(system.out_of("$orc param get pid/mode") == "auto\n");
  CHECK(system.out_of("$orc param get pid/gain --json") == "{\"parameter\":\"pid/gain\",\"value\":1.0}\n");
  CHECK(system.out_of("$orc param set pid/gain 2.5") == "2.5\n");
  CHECK(system.peer.read_line() == "gain 2.5");
  CHECK(system.out_of("$orc param get pid/gain") == "2.5\n");
  CHECK(system.out_of("$orc param set pid/gain 3") == "3.0\n");
  CHECK(system.out_of("$orc param set pid/steps -4") == "-4\n");
  CHECK(system.out_of("$orc param set pid/steps --json -- -5") == "{\"parameter\":\"pid/steps\",\"value\":-5}\n");
  CHECK(system.out_of("$orc param set pid/on true") == "true\n");
  CHECK(system.out_of("$orc param set pid/mode off") == "off\n");
  CHECK(system.out_of("$orc param set pid/gains [1,-2.5]") == "[1.0,-2.5]\n");
  CHECK(system.out_of("$orc param set pid/gains '[1, 2]'") == "[1.0,2.0]\n");
  CHECK(system.out_of("$orc param set pid/gains [3, 4]") == "[3.0,4.0]\n");
  CHECK(system.out_of("$orc param set pid/gains []") == "[]\n");
  CHECK_FALSE(system.out_of("$orc topic echo pid/mode --once --raw 2>&1 || $orc topic echo pid/mode --once").empty());
}

TEST_CASE("orc param: says why it cannot", "[integration]") {
  const running system;
  system.fails("$orc param set pid/gain 11", 1, "pid/gain is a number from 0.0 to 10.0 N, not 11.0");
  system.fails("$orc param set pid/gain much", 1, "pid/gain is a number from 0.0 to 10.0 N, not 'much'");
  system.fails("$orc param set pid/gain nan", 1, "not 'nan'");
  system.fails("$orc param set pid/gain '\"2\"'", 1, "not \"2\"");
  system.fails("$orc param set pid/steps 1.5", 1, "pid/steps is a whole number from");
  system.fails("$orc param set pid/mode on", 1, R"(pid/mode is one of "auto", "off", not "on")");
  system.fails("$orc param set pid/even 3", 1, "pid/even cannot be 3: it is odd");
  system.fails("$orc param set pid/version 2", 1, "pid/version is read-only");
  system.fails("$orc param set pid/gian 2", 3, "no program has the parameter pid/gian: did you mean pid/gain?");
  system.fails("$orc param get pid/gian", 3, "no program has the parameter pid/gian: did you mean pid/gain?");
  system.fails("$orc param get 'a b'", 2, "not a parameter name");
  system.fails("$orc param set pid/gain", 2, "VALUE is missing");
  system.fails("$orc param get pid/gain --broker tcp://127.0.0.1:1", 1, "broker");
  system.fails("$orc param", 2, "a command is missing: list, get, set, save, load");
  CHECK(system.out_of("$orc param get pid/gain") == "1.0\n");
}

TEST_CASE("orc param: saves and loads", "[integration]") {
  const running system;
  const std::string all = "[pid]\neven = 2\ngain = 1.0\ngains = [1.0,2.0]\nmode = \"auto\"\non = false\nsteps = 3\n";
  CHECK(system.out_of("$orc param save -") == all);
  CHECK(system.out_of("$orc param save - 'pid/gain*'") == "[pid]\ngain = 1.0\ngains = [1.0,2.0]\n");
  const orc::detail::temporary_directory scratch;
  const std::string file = scratch.file("robot.toml");
  CHECK(system.out_of("$orc param save " + file).empty());
  std::ostringstream written;
  written << std::ifstream(file).rdbuf();
  CHECK(written.str() == all);
  (void)system.out_of("$orc param set pid/gain 7 && $orc param set pid/mode off");
  CHECK(system.out_of("$orc param load " + file) ==
        "pid/even = 2\npid/gain = 1.0\npid/gains = [1.0,2.0]\npid/mode = auto\npid/on = false\npid/steps = 3\n");
  CHECK(system.out_of("$orc param get pid/gain") == "1.0\n");
  CHECK(system.out_of("printf 'pid.gain = 4\\n' | $orc param load -") == "pid/gain = 4.0\n");
  CHECK(is_json(system.orc, system.out_of("printf 'pid.gain = 4\\n' | $orc param load - --json")));

  const auto some =
      system.orc.run("printf '[pid]\\ngain = 11\\nsteps = 8\\nnone = 1\\nversion = \"3\"' | $orc param load -");
  CHECK(some.exit_code == 1);
  CHECK(some.out == "pid/steps = 8\n");
  CHECK_THAT(some.err, contains("pid/gain is a number from 0.0 to 10.0 N, not 11.0"));
  CHECK_THAT(some.err, contains("no program has the parameter pid/none"));
  CHECK_THAT(some.err, contains("pid/version is read-only"));
  system.fails("printf 'x = ' | $orc param load -", 1, "-: line 1 is no TOML");
  system.fails("$orc param load " + file + ".none", 1, "robot.toml.none: No such file");
  system.fails("$orc param load /", 1, "cannot read /");
  system.fails("$orc param save " + file + "/none", 1, "robot.toml/none: Not a directory");
  system.fails("head -c 2000000 /dev/zero | $orc param load -", 1, "bytes");
}

TEST_CASE("orc param: a stopped or killed owner is waited for until the timeout, or Ctrl-C", "[integration]") {
  running system;
  CHECK(system.out_of("$orc param get pid/gain") == "1.0\n");
  system.peer.freeze();
  system.fails("$orc param get pid/gain --timeout 0.2s", 4, "pid/gain");
  system.fails("$orc param set pid/gain 3 --timeout 0.2s", 4, "pid/gain");
  const auto list = system.orc.run("$orc param list -v --timeout 0.2s");
  CHECK(list.exit_code == 0);
  CHECK_THAT(list.out, contains("pid/gain     ?"));
  const auto saved = system.orc.run("$orc param save - --timeout 0.2s");
  CHECK(saved.exit_code == 1);
  CHECK(saved.out.empty());
  auto waiting = system.orc.start({"param", "get", "pid/gain", "--timeout", "1000s"});
  orc::directory directory({.broker = system.broker.endpoint()});
  REQUIRE(wait_until([&] {
    std::vector<orc::topic_state> topics;
    return directory.topics(".parameters/*/.call/*", topics) && !topics.empty();
  }));
  waiting.send_signal(SIGINT);
  CHECK(waiting.wait_for_end() == -SIGINT);
  system.peer.kill();
  CHECK(wait_until([&] { return system.orc.run("$orc param get pid/gain").exit_code == 3; }));
}
