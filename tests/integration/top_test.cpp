// `orc top` as a person sees it, in a real terminal, and as scripts read it.
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "support/top_robot.h"

using namespace orc::test;

namespace {

// The cell that the regular expression's first group finds, as a number; -1: it does not match.
double number_in(const std::string& screen, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(screen, found, std::regex(pattern)) ? std::stod(found[1]) : -1;
}

bool is_near(double value, double wanted) { return value > 0.9 * wanted && value < 1.1 * wanted; }

// The rows' first words, in the order of the screen.
std::vector<std::string> first_words(const std::string& screen, const std::string& prefix) {
  std::vector<std::string> words;
  const std::regex row("(^|\n)(" + prefix + "[^ \n]*)");
  for (std::sregex_iterator at(screen.begin(), screen.end(), row), end; at != end; ++at) words.push_back((*at)[2]);
  return words;
}

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("orc top: prints one table with rates into a pipe, and JSON") {
  const broker_process broker;
  const tool orc(broker);
  test_node node;
  node.must("open " + broker.endpoint());
  node.must("register arm/state ipc");
  node.must("stream arm/state 1000 100 0");
  node.must("register arm/silent ipc");
  const auto done = orc.run("$orc top | cat");
  INFO(done.out << done.err);
  CHECK(done.exit_code == 0);
  CHECK(done.err.empty());
  CHECK(done.out.find('\x1b') == std::string::npos);
  CHECK(std::regex_search(done.out, std::regex("^TOPIC +TYPE +PUBLISHER +TRANSPORT +RATE Hz +JITTER")));
  CHECK(is_near(number_in(done.out, "arm/state .*\\(ipc\\) +([0-9.]+) "), 100));
  CHECK(is_near(number_in(done.out, "arm/state .* ([0-9.]+) kB/s"), 100));

  const auto json = orc.run("$orc top --json --filter 'ARM state'");
  CHECK(is_json(orc, json.out));
  CHECK(is_near(number_in(json.out, "\"rate_hz\":([0-9.]+)"), 100));
  CHECK_THAT(json.out, contains("\"topic\":\"arm/state\""));
  CHECK_THAT(json.out, !contains("\"topic\":\"arm/silent\""));
  CHECK(number_in(orc.run("$orc top --once --view participants").out,
                  "test_node_[0-9]+ +[0-9]+ +[^ ]+ \\(here\\) +([0-9]+) +0 ") == 2);
}

TEST_CASE("orc top: without a broker it says so, and fails when it prints") {
  const broker_process nowhere(broker_process::at::nowhere);
  const tool orc(nowhere);
  const auto done = orc.run("$orc top --once");
  CHECK(done.exit_code == 1);
  CHECK(done.out.empty());
  CHECK_THAT(done.err, contains(nowhere.endpoint()));
}

TEST_CASE("orc top: shows rates at 80x24, filters, sorts, and switches between views") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/fast", 1000, 200);
  on.stream("arm/slow", 50'000, 10, "tcp");
  on.stream("leg/mid", 100, 50);
  on.start();
  tmux& shown = on.terminal();
  const bool rates = shown.waits_for([](const std::string& seen) {
    return is_near(number_in(seen, "arm/fast +\\(ipc\\) +([0-9.]+) "), 200) &&
           is_near(number_in(seen, "arm/slow +\\(tcp\\) +([0-9.]+) "), 10) &&
           is_near(number_in(seen, "arm/fast .* ([0-9.]+) kB/s"), 200);
  });
  INFO(shown.seen());
  CHECK(rates);
  CHECK(first_words(shown.seen(), "(arm|leg)/") == words{"arm/fast", "arm/slow", "leg/mid"});
  CHECK_THAT(shown.seen(), contains("1 Topics 3"));

  // By rate, then the other way round.
  shown.press({">", ">"});
  CHECK(shown.waits_for([](const std::string& seen) {
    return first_words(seen, "(arm|leg)/") == words{"arm/fast", "leg/mid", "arm/slow"};
  }));
  shown.press({"r"});
  CHECK(shown.waits_for([](const std::string& seen) {
    return first_words(seen, "(arm|leg)/") == words{"arm/slow", "leg/mid", "arm/fast"};
  }));

  shown.press({"-l", "/LEG"});
  CHECK(shown.waits_for([](const std::string& seen) {
    return first_words(seen, "(arm|leg)/") == words{"leg/mid"} && seen.find("/LEG_") != std::string::npos &&
           seen.find("1 Topics 1/3") != std::string::npos;
  }));
  shown.press({"Enter"});
  CHECK(shown.waits_for([](const std::string& seen) { return seen.find("/LEG_") == std::string::npos; }));
  shown.press({"Escape"});
  CHECK(shown.shows("1 Topics 3"));

  // Topics of ORC itself.
  on.node().must("register own/.topic ipc");
  shown.press({"a"});
  CHECK(shown.shows("own/.topic"));
  shown.press({"a"});
  CHECK(shown.waits_for([](const std::string& seen) { return seen.find("own/.topic") == std::string::npos; }));
  CHECK(shown.shows("1 Topics 3"));

  shown.press({"Tab"});
  CHECK(shown.waits_for([&](const std::string& seen) {
    return number_in(seen, "test_node_[0-9]+ +[0-9]+ +([0-9]+) ") == 3 && seen.find("PROGRAM") != std::string::npos;
  }));
  shown.press({"3"});
  CHECK(shown.waits_for([](const std::string& seen) { return seen.find("(here)") != std::string::npos; }));
  shown.press({"?"});
  CHECK(shown.shows("Ctrl-Z"));
  shown.press({"q"});
  on.check_restored();
}

TEST_CASE("orc top: Enter on a participant shows the topics that it has, Esc returns, and / begins empty") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  on.stream("leg/state", 100, 100);
  orc::participant reader(on.broker().options("a_reader"));
  REQUIRE(reader.request_topic("leg/state"));
  on.start("--view participants");
  tmux& shown = on.terminal();
  REQUIRE(shown.shows("a_reader"));
  shown.press({"Enter"});
  CHECK(shown.waits_for([](const std::string& seen) {
    return first_words(seen, "(arm|leg)/") == words{"leg/state"} && seen.find("1 Topics 1/2") != std::string::npos &&
           seen.find("of a_reader (") != std::string::npos;
  }));
  INFO(shown.seen());
  shown.press({"Escape"});
  CHECK(shown.shows("PROGRAM"));
  CHECK_THAT(shown.seen(), contains("1 Topics 2 "));
  shown.press({"Enter"});
  CHECK(shown.shows("1 Topics 1/2"));
  shown.press({"1"});
  CHECK(shown.shows("1 Topics 2 "));
  shown.press({"-l", "/xyz"});
  CHECK(shown.shows("no topic matches /xyz, Esc shows all"));
  shown.press({"Enter"});
  shown.press({"-l", "/arm"});
  CHECK(shown.waits_for([](const std::string& seen) {
    return first_words(seen, "(arm|leg)/") == words{"arm/state"} && seen.find("/arm_") != std::string::npos;
  }));
  shown.press({"C-c"});
  on.check_restored();
}

TEST_CASE("orc top: an opened topic is subscribed, decoded live, and released") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.node().must(
      "type robot.State struct struct {\"byte_order\":\"little\",\"size\":32,\"fields\":[{\"name\":\"count\",\"type\":"
      "\"uint64\",\"offset\":0},{\"name\":\"rest\",\"type\":\"uint8\",\"offset\":8,\"shape\":[24]}]}");
  on.stream("arm/state", 32, 1000);
  on.node().must("type");
  on.stream("image", 1'000'000, 30);
  orc::directory directory({.broker = on.broker().endpoint()});
  const auto readers_of = [&](const std::string& topic) {
    orc::topic_state state;
    return directory.describe(topic, state) ? state.subscription_count : 99;
  };
  on.start();
  tmux& shown = on.terminal();
  REQUIRE(shown.shows("arm/state"));
  CHECK(readers_of("arm/state") == 0);
  shown.press({"Enter"});
  const std::string counted = "\n +count: ([0-9]+)";
  CHECK(shown.waits_for([&](const std::string& seen) { return number_in(seen, counted) > 0; }));
  INFO(shown.seen());
  CHECK_THAT(shown.seen(), contains("robot.State (struct"));
  CHECK_THAT(shown.seen(), contains("… 8 more"));
  const double before = number_in(shown.seen(), counted);
  CHECK(shown.waits_for([&](const std::string& seen) { return number_in(seen, counted) > before + 100; }));
  CHECK(wait_until([&] { return readers_of("arm/state") == 1; }));
  CHECK(readers_of("image") == 0);
  shown.press({"f"});
  CHECK(shown.waits_for([](const std::string& seen) { return seen.find("… 8 more") == std::string::npos; }));
  shown.press({"l"});
  CHECK(shown.shows("orc top"));
  CHECK(shown.shows("this view: ipc"));

  shown.press({"Escape"});
  CHECK(shown.shows("TOPIC"));
  CHECK(wait_until([&] { return readers_of("arm/state") == 0; }));
  shown.press({"Down", "Enter"});
  CHECK(shown.shows("untyped"));
  CHECK(shown.waits_for([](const std::string& seen) { return number_in(seen, "\n0010  ([0-9]+)") >= 0; }));
  CHECK(wait_until([&] { return readers_of("image") == 1; }));
  shown.press({"End"});
  CHECK(shown.shows("more bytes"));
  shown.press({"q"});
  on.check_restored();
  CHECK(wait_until([&] { return readers_of("image") == 0; }));
}

TEST_CASE("orc top: the age of an opened topic counts on when its publisher ends, and its type stays") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  auto publisher = std::make_unique<orc::participant>(on.broker().options("short_lived"));
  orc::topic_options typed;
  typed.type = {.name = "arm.Mode", .schema_encoding = "jsonschema", .message_encoding = "json", .schema = "{}"};
  REQUIRE(publisher->register_topic("arm/mode", typed));
  REQUIRE(publisher->send_msg("arm/mode", "3", 1));
  on.start();
  tmux& shown = on.terminal();
  REQUIRE(shown.shows("arm/mode"));
  shown.press({"Enter"});
  REQUIRE(shown.shows("sample 1 "));
  publisher.reset();
  REQUIRE(shown.shows("no link:"));
  const std::string aged = "sample 1 +age ([0-9.]+) s";
  REQUIRE(shown.waits_for([&](const std::string& seen) { return number_in(seen, aged) > 0; }));
  const double before = number_in(shown.seen(), aged);
  CHECK(shown.waits_for([&](const std::string& seen) { return number_in(seen, aged) > before; }));
  CHECK_THAT(shown.seen(), contains("type arm.Mode"));
  shown.press({"q"});
  on.check_restored();
}

TEST_CASE("orc top: a broker that dies is reported, the figures stay, and its return heals the screen") {
  if (!tmux::is_installed()) return skip("no tmux");
  top_robot on;
  on.stream("arm/state", 100, 100);
  on.start();
  tmux& shown = on.terminal();
  CHECK(shown.waits_for(
      [](const std::string& seen) { return is_near(number_in(seen, "arm/state +\\(ipc\\) +([0-9.]+) "), 100); }));
  shown.press({"2", "Enter"});
  CHECK(shown.shows("of test_node_"));
  on.broker().kill();
  CHECK(shown.shows("no answer for"));
  CHECK_THAT(shown.seen(), contains("arm/state"));
  CHECK_THAT(shown.seen(), contains("start one with orc-broker"));  // the whole message
  shown.press({"Enter"});
  CHECK(shown.shows("no link: the broker does not answer"));
  shown.press({"Escape"});
  on.broker().start();
  // It gives the selected participant another id.
  CHECK(shown.waits_for([](const std::string& seen) {
    return seen.find("no answer for") == std::string::npos && seen.find("of test_node_") != std::string::npos &&
           is_near(number_in(seen, "arm/state +\\(ipc\\) +([0-9.]+) "), 100);
  }));
  shown.press({"q"});
  on.check_restored();
}

TEST_CASE("orc top: ten thousand topics are listed, filtered and scrolled") {
  if (!tmux::is_installed()) return skip("no tmux");
  const std::size_t many = under_sanitizer ? 1'000 : 10'000;
  constexpr std::size_t nodes = 4;
  top_robot on;
  std::vector<std::unique_ptr<test_node>> publishers;
  for (std::size_t n = 0; n < nodes; ++n) {
    publishers.push_back(std::make_unique<test_node>());
    publishers.back()->must("open " + on.broker().endpoint());
  }
  // A publisher answers each line, and waits when nothing reads its answers.
  std::thread registering([&] {
    for (std::size_t i = 0; i < many; ++i)
      publishers[i % nodes]->tell("register many/" + std::to_string(100'000 + i) + " inproc");
  });
  bool registered = true;
  for (std::size_t i = 0; i < many; ++i) registered = publishers[i % nodes]->answer() == "ok" && registered;
  registering.join();
  REQUIRE(registered);
  on.start();
  tmux& shown = on.terminal();
  CHECK(shown.shows("1 Topics " + std::to_string(many)));
  shown.press({"End"});
  CHECK(shown.shows("many/" + std::to_string(100'000 + many - 1)));
  shown.press({"PPage", "PPage"});
  CHECK(shown.shows("many/" + std::to_string(100'000 + many - 39)));
  shown.press({"Home"});
  CHECK(shown.shows("many/100000 "));
  shown.press({"-N", "50", "Down"});
  CHECK(shown.shows("many/100050 "));
  shown.press({"-l", "/00077"});
  CHECK(shown.waits_for([](const std::string& seen) { return first_words(seen, "many/") == words{"many/100077"}; }));
  shown.press({"C-c"});
  on.check_restored();
}
