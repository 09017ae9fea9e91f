// `orc topic list`, `info`, `hz`, and what all subcommands share.
#include <signal.h>

#include <atomic>
#include <regex>
#include <thread>

#include "support/orc_tool.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

TEST_CASE("orc: version, help and usage errors") {
  const broker_process broker(broker_process::at::nowhere);
  const tool orc(broker);
  CHECK(orc.run("$orc --version").out == std::string("orc ") + orc::version() + "\n");
  for (const char* help :
       {"--help", "top --help", "topic --help", "topic list --help", "topic info --help", "topic echo --help",
        "topic hz --help", "topic pub --help", "doctor --help", "replay --help"}) {
    const auto done = orc.run(std::string("$orc ") + help);
    INFO(help);
    CHECK(done.exit_code == 0);
    CHECK(done.out.find("Exit codes:") != std::string::npos);
  }
  for (const char* wrong :
       {"", "nonsense", "topic", "topic echo", "topic list --nonsense", "topic echo 'a b'", "topic info ''",
        "topic echo x -n 0", "topic echo x -n 1 --once", "topic hz x -n many", "topic echo x --hex --text",
        "topic pub x data --stdin lines", "topic pub x --stdin words", "topic pub x -r 0 data", "doctor x"}) {
    const auto done = orc.run(std::string("$orc ") + wrong);
    INFO("orc " << wrong << ": " << done.err);
    CHECK(done.exit_code == 2);
    CHECK(done.out.empty());
    CHECK_FALSE(done.err.empty());
  }
  CHECK(orc.run("$orc topic bogus").err.find("bogus") != std::string::npos);
  CHECK(orc.run("$orc tpoic list").err.find("tpoic") != std::string::npos);
  const auto unwritable = orc.run("$orc bench rtt --json /nonexistent/file");
  CHECK(unwritable.exit_code == 1);
  CHECK(unwritable.err.find("/nonexistent/file") != std::string::npos);
}

TEST_CASE("orc topic: no broker is exit code 1, and says where it was sought and what to do") {
  const broker_process broker(broker_process::at::nowhere);
  const tool orc(broker);
  for (const char* command : {"list", "list --json", "info x", "echo x --timeout 1", "hz x", "pub x data"}) {
    const auto done = orc.run(std::string("$orc topic ") + command);
    INFO("orc topic " << command << ": " << done.err);
    CHECK(done.exit_code == 1);
    CHECK(done.out.empty());
    CHECK(done.err.find(broker.endpoint()) != std::string::npos);
    CHECK(done.err.find("orc-broker") != std::string::npos);
  }
}

TEST_CASE("orc topic: an empty topic map and unknown topics") {
  const broker_process broker;
  const tool orc(broker);
  const auto list = orc.run("$orc topic list");
  CHECK(list.exit_code == 0);
  CHECK(list.out.empty());
  CHECK(list.err.empty());
  CHECK(is_json(orc, orc.run("$orc topic list --json").out));
  for (const char* command : {"info nope", "hz nope", "echo nope --timeout 0.2"}) {
    const auto done = orc.run(std::string("$orc topic ") + command);
    INFO("orc topic " << command << ": " << done.err);
    CHECK(done.exit_code == 3);
    CHECK(done.err.find("nope") != std::string::npos);
  }
  CHECK(orc.run("env -u ORC_BROKER $orc topic list --broker " + broker.endpoint()).exit_code == 0);
}

TEST_CASE("orc topic list and info show publisher, type, subscribers, links and counters") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant publisher(broker.options("pose source"));
  orc::participant reader(broker.options("reader\x1b[31m"));
  topic_options described;
  described.type = {"geometry.Pose", "jsonschema", "json", "{\"x\": 1}"};
  REQUIRE(publisher.register_topic("pose", described));
  request_options now;
  now.connected_within = patience;
  REQUIRE(reader.request_topic("pose", now).result());
  REQUIRE(reader.request_topic("wanted"));
  REQUIRE(publisher.send_msg("pose", "12345", 5));
  REQUIRE(reader.recv_msg("pose", patience_ms));

  CHECK(orc.run("$orc topic list").out == "pose\nwanted\n");
  // The counters come with the next heartbeats.
  REQUIRE(wait_until([&] {
    const auto info = orc.run("$orc topic info pose").out;
    return info.find("1 samples, 5 bytes, 0 dropped, 1 readers") != std::string::npos &&
           info.find("1 samples, 5 bytes, 0 missed, 0 malformed") != std::string::npos;
  }));
  const auto info = orc.run("$orc topic info pose");
  INFO(info.out);
  CHECK(info.exit_code == 0);
  CHECK(info.out.find("pose source (") != std::string::npos);
  CHECK(info.out.find("geometry.Pose (json, hash 0xf3f89f41198fdfa2)") != std::string::npos);
  CHECK(std::regex_search(info.out, std::regex("link +inproc")));
  CHECK(std::regex_search(info.out, std::regex("expects +any type\n")));
  CHECK(std::regex_search(info.out, std::regex("\n  latency +[0-9.]+ (µs|ms|s)\n")));
  CHECK(orc.run("$orc type show pose --schema").out == "{\"x\": 1}");
  CHECK(is_json(orc, orc.run("$orc topic info pose --json").out));

  const auto verbose = orc.run("$orc topic list -v");
  INFO(verbose.out);
  CHECK(verbose.out.starts_with("TOPIC"));
  CHECK(std::regex_search(verbose.out, std::regex("pose +pose source \\([0-9]+\\) +.*ipc.* +1: .* inproc")));
  CHECK(std::regex_search(verbose.out, std::regex("wanted +- +- +1: ")));
  // A program's name is a stranger's text: nothing in it may reach the terminal as a control sequence.
  CHECK(verbose.out.find('\x1b') == std::string::npos);
  CHECK(is_json(orc, orc.run("$orc topic list --json").out));
  CHECK(orc.run("$orc topic info wanted").exit_code == 3);
}

TEST_CASE("orc topic info shows what predictive waiting achieves, and nothing where it is not used") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant publisher(broker.options("source"));
  orc::participant reader(broker.options("controller"));
  REQUIRE(publisher.register_topic("state"));
  REQUIRE(
      reader.request_topic("state", {.connected_within = patience, .wait = orc::wait::predictive, .cpu_budget = 0.5})
          .result());
  std::atomic<bool> stop{false};
  std::thread sends([&] {
    for (; !stop; std::this_thread::sleep_for(std::chrono::milliseconds(5))) (void)publisher.send_msg("state", "1", 1);
  });
  std::thread receives([&] {
    while (!stop) (void)reader.recv_msg("state", 100);
  });
  const std::regex shown("predicts +a sample every [0-9.]+ (µs|ms); [0-9.]+ % of [0-9]+ came while it watched");
  CHECK(wait_until([&] { return std::regex_search(orc.run("$orc topic info state").out, shown); }));
  const auto json = orc.run("$orc topic info state --json").out;
  CHECK(std::regex_search(json, std::regex("\"prediction\": ?\\{\"period_ns\": ?[1-9]")));
  stop = true;
  sends.join();
  receives.join();
  REQUIRE(reader.request_topic("other"));
  CHECK(wait_until([&] { return orc.run("$orc topic info other").out.find("received") != std::string::npos; }));
  CHECK(orc.run("$orc topic info other").out.find("predicts") == std::string::npos);
}

TEST_CASE("orc topic list pages through a large map") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant node(broker.options());
  std::string expected;
  for (int i = 1000; i < 1700; ++i) {
    const std::string topic = "a_topic_with_a_name_of_some_length/" + std::to_string(i);
    REQUIRE(node.request_topic(topic));
    expected += topic + "\n";
  }
  CHECK(orc.run("$orc topic list").out == expected);
}

TEST_CASE("orc topic: Ctrl-C ends what is endless with 0, and cuts the rest short with 130") {
  const broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  const int number = GENERATE(SIGINT, SIGTERM);
  struct expectation {
    std::vector<std::string> words;
    int exit_code;
  };
  const std::vector<expectation> cases = {
      {{"topic", "echo", "numbers"}, 0},
      {{"topic", "echo", "numbers", "-n", "1000000"}, 130},
      {{"topic", "hz", "numbers"}, 0},
      {{"topic", "hz", "numbers", "-n", "1000000"}, 130},
  };
  for (const auto& each : cases) {
    child_process running = orc.start(each.words);
    REQUIRE(running.read_line());
    running.send_signal(number);
    INFO(each.words[1] << " with " << each.words.size() << " words");
    CHECK(exit_code_of(running) == each.exit_code);
  }
  // A publisher is at work once its topic can be heard.
  child_process endless = orc.start({"topic", "pub", "ticks", "tick", "-r", "100"});
  REQUIRE(orc.run("$orc topic echo ticks --once").exit_code == 0);
  endless.send_signal(number);
  CHECK(exit_code_of(endless) == 0);
  child_process waiting = orc.start({"topic", "pub", "ticks", "tick", "--wait", "1000"});
  REQUIRE(wait_until([&] { return orc.run("$orc topic info ticks").exit_code == 0; }));
  waiting.send_signal(number);
  CHECK(exit_code_of(waiting) == 130);
}

TEST_CASE("orc topic: a reader of the pipe that leaves ends it quietly") {
  const broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  orc::participant node(broker.options());
  REQUIRE(node.register_topic("once"));
  REQUIRE(node.send_msg("once", "x", 1));
  // `once` sends nothing more: the tool must notice without writing.
  for (const char* command : {"echo numbers", "hz numbers", "echo --json numbers", "echo once", "list -v"}) {
    const auto done = orc.run(std::string("$orc topic ") + command + " | head -n 1; echo codes ${PIPESTATUS[@]}");
    INFO(command << ": " << done.out << done.err);
    CHECK(done.out.ends_with("codes 0 0\n"));
    CHECK(done.err.empty());
  }
}

TEST_CASE("orc topic: output that cannot be written is an error") {
  const broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  for (const char* command : {"list", "list --json", "info numbers", "echo numbers", "hz numbers"}) {
    const auto done = orc.run(std::string("$orc topic ") + command + " > /dev/full");
    INFO(command << ": " << done.err);
    CHECK(done.exit_code == 1);
    CHECK(done.err.find("cannot write") != std::string::npos);
  }
}

TEST_CASE("orc topic hz shows the rate from the publisher's counters, without subscribing") {
  const broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  const auto text = orc.run("$orc topic hz numbers -n 2");
  CHECK(text.exit_code == 0);
  INFO(text.out);
  const std::regex shape("(rate=[0-9.]+Hz bandwidth=[0-9]+B/s size=[0-9]+B readers=0 sent=[0-9]+ dropped=[0-9]+\n){2}");
  CHECK(std::regex_match(text.out, shape));
  const auto json = orc.run("$orc topic hz numbers -n 1 --json");
  CHECK(json.exit_code == 0);
  CHECK(is_json(orc, json.out));
}

TEST_CASE("orc topic hz goes on when the broker is restarted") {
  broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  child_process hz = orc.start({"topic", "hz", "numbers"});
  REQUIRE(hz.read_line());
  broker.restart();
  CHECK(hz.read_line());
  CHECK(hz.read_line());
  hz.send_signal(SIGINT);
  CHECK(exit_code_of(hz) == 0);
}
