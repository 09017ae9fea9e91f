// What a subscription gets first when its path is back.
#include <string>

#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("12: the first sample after an outage is as old as it is, and max_age drops it", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_broker broker((*hosts)[0]);
  const auto publisher = node_on((*hosts)[0], broker.endpoint());
  const auto any_age = node_on((*hosts)[1], broker.endpoint());
  const auto young_only = node_on((*hosts)[1], broker.endpoint());
  publisher->must("register cmd tcp");
  follow(*any_age, "cmd", "tcp");
  young_only->must("request cmd tcp 1 0 20000 1000");
  publisher->must("send cmd 1 8");
  REQUIRE(young_only->ask("recv cmd 20000").starts_with("sample 1 "));
  REQUIRE(wait_until([&] { return any_age->stats("cmd").received == 1; }));

  constexpr std::chrono::milliseconds length(3000);
  hosts->cut(1, outage::silent);
  publisher->must("send cmd 2 8");
  const auto since = std::chrono::steady_clock::now();
  REQUIRE(wait_until([&] { return ms_since(since) >= length.count(); }));
  hosts->mend(1);
  CHECK(wait_until([&] { return any_age->stats("cmd").received == 2; }));
  CHECK(any_age->stats("cmd").max_age_us >= length.count() * 1000);
  CHECK(young_only->ask("recv cmd 2000").starts_with("none"));
  publisher->must("send cmd 3 8");
  CHECK(young_only->ask("recv cmd 20000") == "sample 3 3 8 1");  // it missed one
}
