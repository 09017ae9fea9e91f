// `orc topic`: real processes of the tool against a real broker, as scripts and people use it.
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

// The tool, with ORC_BROKER set.
class tool {
 public:
  struct outcome {
    int exit_code = -1;
    std::string out;
    std::string err;
  };

  explicit tool(const broker_process& broker)
      : environment_{"orc=" + program("orc"), "ORC_BROKER=" + broker.endpoint(),
                     "XDG_RUNTIME_DIR=" + broker.directory().path().string()} {}

  // In a shell, where it is $orc.
  [[nodiscard]] outcome run(const std::string& command) const {
    const temp_dir scratch;
    child_process shell({"/bin/bash", "-c", "{ " + command + "\n} 2> " + scratch.file("err")}, environment_);
    shell.close_input();
    outcome done;
    done.out = shell.read_all();
    const auto status = shell.wait();
    if (status && WIFEXITED(*status)) done.exit_code = WEXITSTATUS(*status);
    std::ostringstream err;
    err << std::ifstream(scratch.file("err")).rdbuf();
    done.err = err.str();
    return done;
  }

  // Without a shell around it: signals go to the tool.
  [[nodiscard]] child_process start(std::vector<std::string> words) const {
    words.insert(words.begin(), program("orc"));
    return child_process(std::move(words), environment_);
  }

 private:
  std::vector<std::string> environment_;
};

int exit_code_of(child_process& process) {
  const auto status = process.wait();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

bool is_json(const tool& orc, const std::string& text) {
  const temp_dir scratch;
  std::ofstream(scratch.file("text")) << text;
  // Without python3 the shape has to do.
  const std::string file = scratch.file("text");
  const auto checked = orc.run("if command -v python3 >/dev/null; then python3 -m json.tool < " + file +
                               "; else grep -q '^{.*}$' " + file + "; fi");
  return checked.exit_code == 0;
}

// Sends "sample N" a hundred times a second until the end.
class stream {
 public:
  stream(const broker_process& where, const std::string& topic) : node_(where.options("streamer")) {
    REQUIRE(node_.register_topic(topic));
    thread_ = std::jthread([this, topic](const std::stop_token& stop) {
      for (int i = 1; !stop.stop_requested(); ++i) {
        const std::string text = "sample " + std::to_string(i);
        static_cast<void>(node_.send_msg(topic, text.data(), text.size()));
        std::this_thread::sleep_for(10ms);
      }
    });
  }

 private:
  orc::broker node_;
  std::jthread thread_;
};

// A subscriber of everything that is sent, in order.
class recorder {
 public:
  recorder(const broker_process& where, std::string topic)
      : topic_(std::move(topic)), node_(where.options("recorder")) {
    request_options in_order;
    in_order.conflate = 0;
    in_order.depth = 1000;
    REQUIRE(node_.request_topic(topic_, in_order));
  }

  [[nodiscard]] std::string next() {
    const message sample = node_.recv_msg(topic_, patience_ms);
    return sample ? std::string(static_cast<const char*>(sample.data()), sample.size()) : "(nothing came)";
  }

 private:
  std::string topic_;
  orc::broker node_;
};

}  // namespace

TEST_CASE("orc: version, help and usage errors") {
  const broker_process broker(broker_process::at::nowhere);
  const tool orc(broker);
  CHECK(orc.run("$orc --version").out == std::string("orc ") + orc::version() + "\n");
  for (const char* help : {"--help", "topic --help", "topic list --help", "topic info --help", "topic echo --help",
                           "topic hz --help", "topic pub --help"}) {
    const auto done = orc.run(std::string("$orc ") + help);
    INFO(help);
    CHECK(done.exit_code == 0);
    CHECK(done.out.find("Exit codes:") != std::string::npos);
  }
  for (const char* wrong :
       {"", "nonsense", "topic", "topic echo", "topic list --nonsense", "topic echo 'a b'", "topic info ''",
        "topic echo x -n 0", "topic echo x -n 1 --once", "topic hz x -n many", "topic echo x --hex --text",
        "topic pub x data --stdin lines", "topic pub x --stdin words", "topic pub x -r 0 data"}) {
    const auto done = orc.run(std::string("$orc ") + wrong);
    INFO("orc " << wrong << ": " << done.err);
    CHECK(done.exit_code == 2);
    CHECK(done.out.empty());
    CHECK_FALSE(done.err.empty());
  }
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
  orc::broker publisher(broker.options("pose source"));
  orc::broker reader(broker.options("reader\x1b[31m"));
  topic_options described;
  described.type = {"geometry.Pose", "json", 42, "{\"x\": 1}"};
  REQUIRE(publisher.register_topic("pose", described));
  request_options now;
  now.connected_within_ms = patience_ms;
  REQUIRE(reader.request_topic("pose", now));
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
  CHECK(info.out.find("geometry.Pose (json, hash 0x000000000000002a)") != std::string::npos);
  CHECK(std::regex_search(info.out, std::regex("link +inproc")));
  CHECK(orc.run("$orc topic info -v pose").out.find("{\"x\": 1}") != std::string::npos);
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

TEST_CASE("orc topic list pages through a large map") {
  const broker_process broker;
  const tool orc(broker);
  orc::broker node(broker.options());
  std::string expected;
  for (int i = 1000; i < 1700; ++i) {
    const std::string topic = "a_topic_with_a_name_of_some_length/" + std::to_string(i);
    REQUIRE(node.request_topic(topic));
    expected += topic + "\n";
  }
  CHECK(orc.run("$orc topic list").out == expected);
}

TEST_CASE("orc topic echo shows samples as text, hex, JSON or raw, and ends when told") {
  const broker_process broker;
  const tool orc(broker);
  orc::broker node(broker.options());
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
  orc::broker node(broker.options());
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

TEST_CASE("orc topic pub sends its arguments to those who listen") {
  const broker_process broker;
  const tool orc(broker);
  recorder heard(broker, "word");
  struct expectation {
    std::string arguments;
    std::string sample;
  };
  using std::string_literals::operator""s;
  const expectation cases[] = {
      {"hello world", "hello world"},
      {"'two  spaces'", "two  spaces"},
      {"'[1, 2]'", "[1, 2]"},
      {"a '[1,2]' '{\"b\": 3}'", "a [1,2] {\"b\": 3}"},
      {"--hex 00ff '0x41 42' 0a", "\0\xff\x41\x42\n"s},
      {"''", ""},
      {"-- -5", "-5"},
  };
  for (const auto& each : cases) {
    const auto done = orc.run("$orc topic pub word --wait 30 " + each.arguments);
    INFO(each.arguments << ": " << done.err);
    CHECK(done.exit_code == 0);
    CHECK(heard.next() == each.sample);
  }
  const auto repeated = orc.run("$orc topic pub word --wait 30 tick -n 5 -r 200 --json");
  CHECK(repeated.exit_code == 0);
  CHECK(is_json(orc, repeated.out));
  CHECK(repeated.out.find("\"sent\":5,\"bytes\":20") != std::string::npos);
  for (int i = 0; i < 5; ++i) CHECK(heard.next() == "tick");
  CHECK(orc.run("$orc topic pub word --hex 4").exit_code == 2);
}

TEST_CASE("orc topic pub sends lines or all of stdin") {
  const broker_process broker;
  const tool orc(broker);
  recorder heard(broker, "word");
  CHECK(orc.run("printf 'one\\n\\nlast without line feed' | $orc topic pub word --wait 30").exit_code == 0);
  CHECK(heard.next() == "one");
  CHECK(heard.next().empty());
  CHECK(heard.next() == "last without line feed");
  CHECK(orc.run("printf 'one\\ntwo\\n' | $orc topic pub word --wait 30 --stdin whole").exit_code == 0);
  CHECK(heard.next() == "one\ntwo\n");
  // Each line goes out as it comes.
  child_process typing = orc.start({"topic", "pub", "word", "--wait", "30"});
  for (const char* line : {"first", "second"}) {
    typing.write_line(line);
    CHECK(heard.next() == line);
  }
  typing.close_input();
  CHECK(exit_code_of(typing) == 0);
}

TEST_CASE("orc topic pub: nobody listens, or another program holds the topic") {
  const broker_process broker;
  const tool orc(broker);
  const auto alone = orc.run("$orc topic pub word --wait 0.1 hello");
  CHECK(alone.exit_code == 4);
  CHECK(alone.err.find("nobody listens") != std::string::npos);
  CHECK(orc.run("$orc topic pub word hello --wait 0").exit_code == 0);
  orc::broker node(broker.options("the holder"));
  REQUIRE(node.register_topic("word"));
  const auto taken = orc.run("$orc topic pub word hello");
  INFO(taken.err);
  CHECK(taken.exit_code == 1);
  CHECK(taken.err.find("the holder") != std::string::npos);
}
