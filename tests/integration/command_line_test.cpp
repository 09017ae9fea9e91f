// What the command lines of orc, orc-broker and the benchmarks have in common.
#include <unistd.h>

#include <regex>

#include "support/orc_tool.h"

using namespace orc::test;

TEST_CASE("command line: a mistyped option or command is asked about", "[integration]") {
  const broker_process broker(broker_process::at::nowhere);
  const tool orc(broker);
  const std::pair<const char*, const char*> cases[] = {
      {"$orc --verison", "orc: unknown option --verison: did you mean --version? See orc --help\n"},
      {"$orc tpoic list", "orc: unknown command tpoic: did you mean topic? See orc --help\n"},
      {"$orc echo arm", "orc: unknown command echo: did you mean orc topic echo? See orc --help\n"},
      {"$orc topic lst", "orc: unknown command lst: did you mean list? See orc topic --help\n"},
      {"$orc topic bogus", "orc: unknown command bogus; see orc topic --help\n"},
      {"$orc topic", "orc: a command is missing: list, info, echo, hz, pub; see orc topic --help\n"},
      {"$orc topic list --jsn", "orc: unknown option --jsn: did you mean --json? See orc topic list --help\n"},
      {"$orc topic echo --onec", "orc: unknown option --onec: did you mean --once? See orc topic echo --help\n"},
      {"$orc topic list --xyz=1", "orc: unknown option --xyz; see orc topic list --help\n"},
      {"$orc topic echo", "orc: TOPIC is missing; see orc topic echo --help\n"},
      {"$orc topic echo x -n", "orc: --count needs a value; see orc topic echo --help\n"},
      {"$orc topic echo x -n 1 -n 2", "orc: --count was given more than once; see orc topic echo --help\n"},
      {"$orc topic echo x -n 0",
       "orc: --count: '0' is not a whole number from 1 to 1000000000; see orc topic echo --help\n"},
      {"$orc topic echo x --as f8 --hex", "orc: --hex does not go with --as; see orc topic echo --help\n"},
      {"$orc topic pub x y --stdin whole", "orc: DATA does not go with --stdin; see orc topic pub --help\n"},
      {"$orc topic list x", "orc: unexpected argument 'x'; see orc topic list --help\n"},
      {"$orc topic pub x data --priority control1",
       "orc: --priority: 'control1' is not bulk, normal or control: did you mean control? See orc topic pub --help\n"},
      {"$broker --lsiten tcp://*:1",
       "orc-broker: unknown option --lsiten: did you mean --listen? See orc-broker --help\n"},
      {"$broker stray", "orc-broker: unexpected argument 'stray'; see orc-broker --help\n"},
  };
  for (const auto& [command, expected] : cases) {
    const auto done = orc.run("broker=" + program("orc-broker") + "; " + command);
    INFO(command);
    CHECK(done.exit_code == 2);
    CHECK(done.out.empty());
    CHECK(done.err == expected);
  }
}

TEST_CASE("command line: no help shows how the program checks its options", "[integration]") {
  const broker_process broker(broker_process::at::nowhere);
  const tool orc(broker);
  std::vector<std::string> commands{program("orc-broker")};
  for (const char* command : {"", "top", "topic", "topic list", "topic info", "topic echo", "topic hz", "topic pub",
                              "doctor", "bench", "bench rtt", "replay"})
    commands.push_back("$orc " + std::string(command));
  const std::string beside = commands.front().substr(0, commands.front().rfind('/') + 1);
  for (const char* name : {"rtt_vs_zmq", "shm_vs_floor", "fanout", "at_rest", "join_stalls", "head_of_line",
                           "freshness", "broker_load", "fec_cost", "lcm_echo", "web_load"})
    if (const std::string benchmark = beside + name; access(benchmark.c_str(), X_OK) == 0)
      commands.push_back(benchmark);
  const std::regex internals(R"(\b(INT|UINT|FLOAT|ENUM|TEXT|BOOLEAN|REQUIRED)\b|Excludes:| in \[|->|=\[)");
  for (const std::string& command : commands) {
    const auto done = orc.run(command + " --help");
    INFO(command << ": " << done.out);
    CHECK(done.exit_code == 0);
    std::smatch found;
    const bool shown = std::regex_search(done.out, found, internals);
    INFO(found.str());
    CHECK_FALSE(shown);
  }
}
