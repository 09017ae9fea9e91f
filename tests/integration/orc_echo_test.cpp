// `orc topic echo`.
#include <signal.h>

#include <limits>
#include <regex>
#include <vector>

#include "support/fake_publication.h"
#include "support/orc_tool.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

TEST_CASE("orc topic echo shows samples as text, hex, JSON or raw, and ends when told") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant node(broker.options());
  REQUIRE(node.register_topic("text"));
  REQUIRE(node.send_msg("text", "hello\n\\ \xC3\xA4", 10));
  const std::string binary("\x00\x1b[31m\xff", 7);
  REQUIRE(node.register_topic("bytes"));
  REQUIRE(node.send_msg("bytes", binary.data(), binary.size()));
  const std::string long_text(1000, 'x');
  REQUIRE(node.register_topic("long"));
  REQUIRE(node.send_msg("long", long_text.data(), long_text.size()));

  // All are last values: a subscriber that comes late gets them.
  const auto text = orc.run("$orc topic echo text --once");
  INFO(text.out << text.err);
  CHECK(text.exit_code == 0);
  CHECK(std::regex_match(text.out,
                         std::regex("seq=1 age_us=[0-9.]+ size=10 missed=0 text=hello\\\\n\\\\\\\\ \xC3\xA4\n")));
  CHECK(orc.run("$orc topic echo bytes --once").out.ends_with(" size=7 missed=0 hex=001b5b33316dff\n"));
  CHECK(orc.run("$orc topic echo bytes --once --text").out.ends_with(" text=\\x00\\x1b[31m\\xff\n"));
  CHECK(orc.run("$orc topic echo text --once --hex").out.ends_with(" hex=68656c6c6f0a5c20c3a4\n"));
  CHECK(orc.run("$orc topic echo bytes --once --raw").out == binary);
  CHECK(orc.run("$orc topic echo long --once").out.ends_with("text=" + long_text.substr(0, 256) + "...(+744)\n"));
  CHECK(orc.run("$orc topic echo long --once --full").out.ends_with("text=" + long_text + "\n"));
  for (const char* topic : {"text", "bytes", "long"}) {
    const auto json = orc.run(std::string("$orc topic echo --once --json ") + topic);
    CHECK(json.exit_code == 0);
    CHECK(is_json(orc, json.out));
  }
  const auto silent = orc.run("$orc topic echo text -n 2 --timeout 0.5");
  CHECK(silent.exit_code == 4);
  CHECK(silent.err.find("no sample") != std::string::npos);
  // Samples came and no number of them was asked for: silence is an ordinary end.
  CHECK(orc.run("$orc topic echo text --timeout 1").exit_code == 0);
}

TEST_CASE("orc topic echo follows a stream in order, and a queue misses nothing") {
  const broker_process broker;
  const tool orc(broker);
  const stream source(broker, "numbers");
  const auto echoed = orc.run("$orc topic echo numbers -n 20 --queue 1000 --text");
  REQUIRE(echoed.exit_code == 0);
  std::istringstream lines(echoed.out);
  const std::regex shape("seq=([0-9]+) .* missed=0 text=sample ([0-9]+)");
  std::uint64_t last = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    std::smatch found;
    REQUIRE(std::regex_match(line, found, shape));
    CHECK(found[1] == found[2]);
    const std::uint64_t sequence = std::stoull(found[1]);
    if (last != 0) CHECK(sequence == last + 1);
    last = sequence;
  }
  CHECK(count == 20);
}

TEST_CASE("orc topic echo waits for a publisher that comes later") {
  const broker_process broker;
  const tool orc(broker);
  child_process echo = orc.start({"topic", "echo", "later", "-n", "1"});
  REQUIRE(wait_until([&] { return orc.run("$orc topic list").out == "later\n"; }));
  const stream source(broker, "later");
  const auto line = echo.read_line();
  REQUIRE(line);
  CHECK(line->find("text=sample ") != std::string::npos);
  CHECK(exit_code_of(echo) == 0);
}

TEST_CASE("orc topic echo says that no program publishes the topic, names a near one, and goes on waiting") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant node(broker.options());
  REQUIRE(node.register_topic("robot_position"));
  REQUIRE(node.request_topic("robot_positons"));  // requested only: one that is published comes first
  REQUIRE(node.request_topic("arm/state"));
  const auto done = orc.run("$orc topic echo robot_positon --timeout 3");
  INFO(done.err);
  CHECK(done.exit_code == 3);
  CHECK(done.err.find("orc: waiting; no publisher of 'robot_positon': did you mean robot_position?\n") !=
        std::string::npos);
  const auto soon = orc.run("$orc topic echo robot_positon --timeout 0.2");
  CHECK(soon.err == "orc: waited 0.2 s; no publisher of 'robot_positon': did you mean robot_position?\n");
  for (const char* command : {"hz", "info"})
    CHECK(orc.run(std::string("$orc topic ") + command + " robot_positon").err ==
          "orc: no publisher of 'robot_positon': did you mean robot_position?\n");
  CHECK(orc.run("$orc topic hz arm/stat").err == "orc: no publisher of 'arm/stat': did you mean arm/state?\n");
  CHECK(orc.run("$orc topic hz camera").err == "orc: no publisher of 'camera'\n");

  child_process echo = orc.start({"topic", "echo", "later", "-n", "1"});
  CHECK(echo.read_line() == "orc: waiting; no publisher of 'later'");
  const stream source(broker, "later");
  const auto line = echo.read_line();
  REQUIRE(line);
  CHECK(line->find("text=sample ") != std::string::npos);
  CHECK(exit_code_of(echo) == 0);
}

TEST_CASE("orc topic echo --as shows numbers, and remarks on a sample of another size") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant node(broker.options());
  const auto show = [&](const std::string& layout, const std::string& sample, const std::string& options = "") {
    REQUIRE(node.register_topic("numbers"));
    REQUIRE(node.send_msg("numbers", sample.data(), sample.size()));
    auto done = orc.run("$orc topic echo numbers --once --as " + layout + options);
    INFO(done.err);
    CHECK(done.exit_code == 0);
    return done.out;
  };
  const auto bytes = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]);
  };
  const std::string doubles =
      bytes(std::vector<double>{0.1, -1e300, std::numeric_limits<double>::infinity(), 5, 6, 7, 8});
  CHECK(show("f8x7", doubles).ends_with(" size=56 missed=0 numbers=0.1 -1e+300 inf 5 6 7 8\n"));
  CHECK(show("f8x7", doubles, " --json").find("\"numbers\":[0.1,-1e+300,null,5,6,7,8]}") != std::string::npos);
  const std::string mixed = std::string("\xff\xff\xff\xff", 4) + bytes(std::vector<float>{0.1F, -2}) + "\xff";
  CHECK(show("u4,f4x2,i1", mixed).ends_with(" size=13 missed=0 numbers=4294967295 0.1 -2 -1\n"));
  CHECK(show("u4", "abc").ends_with(" size=3 missed=0 hex=616263 (u4 has 4 bytes)\n"));
  CHECK(show("u4", "abc", " --json").find("\"hex\":\"616263\"") != std::string::npos);
  for (const char* wrong : {"f3", "f8x", "f8x0", "f8y7", "f8,", "''", "f8x9999999", "f8 --hex"}) {
    const auto done = orc.run(std::string("$orc topic echo numbers --once --as ") + wrong);
    INFO(wrong << ": " << done.err);
    CHECK(done.exit_code == 2);
    CHECK(done.err.find("--as") != std::string::npos);
  }
}

TEST_CASE("orc topic echo on a terminal says what it waits for", "[integration]") {
  const broker_process broker;
  const tool orc(broker);
  const std::string on_a_terminal = "timeout -s INT 3 script -qec 'exec $orc topic echo t' /dev/null";
  CHECK(orc.run(on_a_terminal).out.find("waiting for a publisher of 't'") != std::string::npos);
  const fake_publication silent(broker, "t");
  const auto told = orc.run(on_a_terminal).out;
  INFO(told);
  CHECK(told.find("no link to the publisher of 't' yet: ") != std::string::npos);
  CHECK(told.find("waiting for a publisher") == std::string::npos);
}
