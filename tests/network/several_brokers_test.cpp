// Several brokers are named: the map moves to the next one when the first is lost.
#include <chrono>
#include <string>

#include "network/lab.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("13: the map moves to the next broker within a second", "[network]") {
  std::string why;
  const auto hosts = lab::make(4, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  lab_broker first(all[0]);
  lab_broker second(all[3]);
  const std::string both = first.endpoint() + "," + second.endpoint();
  const auto publisher = node_on(all[1], both);
  const auto subscriber = node_on(all[2], both);
  publisher->must("register pose tcp");
  subscriber->must("request pose any 0 1000 5000");
  subscriber->must("request later any 1 0 0");
  publisher->must("stream pose 100 100 0");
  subscriber->must("collect pose");
  REQUIRE(wait_until([&] { return subscriber->stats("pose").received > 10; }));
  CHECK(topics_of(all[3], second.endpoint()).find("pose") == std::string::npos);  // nobody is there yet

  first.kill();
  const auto killed = std::chrono::steady_clock::now();
  publisher->tell("register later tcp");
  CHECK(wait_until([&] { return !subscriber->ask("link later").starts_with("none"); }));
  CHECK(ms_since(killed) <= 1000 + (under_sanitizer ? 1500 : 300));
  CHECK(publisher->answer() == "ok");
  CHECK(wait_until([&] { return topics_of(all[1], both).find("pose") != std::string::npos; }));
  CHECK(subscriber->stats("pose").missed == 0);
}
