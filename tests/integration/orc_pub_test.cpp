// `orc topic pub`.
#include <signal.h>

#include <regex>

#include "support/broker_view.h"
#include "support/orc_tool.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

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
      {"--as u1x3 1 2 255", "\x01\x02\xff"},
      {"--as i2,u1 -2,7", "\xfe\xff\x07"},
      {"--as f4 0.5", "\0\0\0\x3f"s},
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
  const std::pair<const char*, const char*> refused[] = {
      {"--as f8x3 1 2", "orc: '1 2' has 2 numbers; f8x3 has 3\n"},
      {"--as u1 256", "orc: '256' is not a number that u1 can hold\n"},
      {"--as u1 one", "orc: 'one' is not a number that u1 can hold\n"},
      {"--as i4 0.5", "orc: '0.5' is not a number that i4 can hold\n"},
  };
  for (const auto& [arguments, expected] : refused) {
    const auto done = orc.run(std::string("$orc topic pub word ") + arguments);
    INFO(arguments);
    CHECK(done.exit_code == 2);
    CHECK(done.err == expected);
  }
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
  orc::participant node(broker.options("the holder"));
  REQUIRE(node.register_topic("word"));
  const auto taken = orc.run("$orc topic pub word hello");
  INFO(taken.err);
  CHECK(taken.exit_code == 1);
  CHECK(taken.err.find("the holder") != std::string::npos);
}

TEST_CASE("A2: orc topic pub --no-keep-last is for those who are there, orc topic echo --max-age for what is young") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant node(broker.options("commander"));
  REQUIRE(node.register_topic("old"));
  REQUIRE(node.send_msg("old", "yesterday", 9));
  CHECK(orc.run("$orc topic echo old --once --timeout 1 --max-age 1").exit_code == 4);
  CHECK(orc.run("$orc topic echo old --once --timeout 30").out.find("yesterday") != std::string::npos);
  CHECK(orc.run("$orc topic echo old --raw --full --once").exit_code == 2);
  child_process sending =
      orc.start({"topic", "pub", "word", "hello", "--no-keep-last", "--wait", "0", "--linger", "30"});
  raw_client client(broker.endpoint());
  REQUIRE(wait_until([&] {
    const auto state = described(client, "word");
    return state.publication && state.publication->counters && state.publication->counters->sent == 1;
  }));
  orc::request_options wanted;
  wanted.connected_within = patience;
  REQUIRE(node.request_topic("word", wanted).result());
  CHECK(!node.recv_msg("word", 100));
}
