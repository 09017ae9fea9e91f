// Who gets a place and a turn at the broker when there are more connections than places or time.
#include "broker/connections/fair_share.h"

#include <algorithm>
#include <string>
#include <vector>

#include "broker/map/client_table.h"
#include "support/catch.h"

using orc::fair_share;

namespace {

using keys = std::vector<fair_share::routing>;

// Admits like the broker: those who have to make room go.
bool enter(fair_share& share, fair_share::routing key, const std::string& origin) {
  const auto answer = share.ask(origin);
  if (!answer.admitted) return false;
  if (answer.in_place_of) share.remove(*answer.in_place_of);
  share.add(key, origin);
  return true;
}

}  // namespace

TEST_CASE("fair share: the oldest stranger of the origin that has the most makes room") {
  fair_share share({100, 4, 75});
  for (const auto key : keys{1, 2, 3}) REQUIRE(enter(share, key, "crowd"));
  REQUIRE(enter(share, 4, "honest"));
  CHECK(share.ask("another").in_place_of == 1u);
  CHECK(share.ask("honest").in_place_of == 1u);
  share.settle(1, true);  // a participant gives way to nobody
  CHECK_FALSE(share.ask("another").in_place_of);
  REQUIRE(enter(share, 5, "crowd"));
  CHECK(share.ask("another").in_place_of == 2u);
  share.settle(1, false);  // and is the youngest stranger when it is none any more
  CHECK(share.crowded());
  CHECK(share.first_to_go() == 2u);
}

TEST_CASE("fair share: of origins with as many strangers, the one that has been a stranger longest makes room") {
  fair_share share({100, 3, 75});
  REQUIRE(enter(share, 1, "z"));
  REQUIRE(enter(share, 2, "a"));
  REQUIRE(enter(share, 3, "m"));
  CHECK(share.first_to_go() == 1u);
  share.settle(1, true);
  CHECK(share.first_to_go() == 2u);
  share.settle(1, false);  // the youngest stranger of all now, whatever its number
  CHECK(share.first_to_go() == 2u);
  share.remove(2);
  CHECK(share.first_to_go() == 3u);
  share.remove(3);
  CHECK(share.first_to_go() == 1u);
}

TEST_CASE("fair share: one origin cannot take all places, nor may strangers take those of participants") {
  fair_share share({8, 4, 6});
  for (fair_share::routing key = 1; key <= 6; ++key) {
    REQUIRE(enter(share, key, "greedy"));
    share.settle(key, true);
  }
  CHECK_FALSE(share.ask("greedy").admitted);
  REQUIRE(enter(share, 7, "honest"));
  REQUIRE(enter(share, 8, "honest"));
  CHECK(share.ask("another").in_place_of == 7u);
  share.settle(7, true);
  share.settle(8, true);
  CHECK_FALSE(share.ask("another").admitted);
  share.remove(3);
  CHECK(share.ask("another").admitted);
  REQUIRE(enter(share, 9, "greedy"));
  CHECK(share.ask("greedy").in_place_of == 9u);  // its own stranger, whoever has more of them
  CHECK(share.size() == 8);
}

TEST_CASE("fair share: origins take turns, and so do the connections of each") {
  fair_share share({100, 100, 100});
  for (const auto key : keys{1, 2, 3}) share.add(key, "crowd");
  share.add(4, "honest");
  for (const auto key : keys{1, 2, 3, 4, 4, 1}) share.ready(key);
  std::vector<fair_share::routing> turns;
  for (int n = 0; n < 6; ++n) {
    turns.push_back(share.next());
    share.ready(turns.back());  // all of them always want more
  }
  CHECK(turns == std::vector<fair_share::routing>{1, 4, 2, 4, 3, 4});
  for (const auto key : keys{1, 2, 3, 4}) share.remove(key);
  CHECK_FALSE(share.any_ready());
  CHECK(share.size() == 0);
  share.ready(4);  // gone
  CHECK_FALSE(share.any_ready());
}

TEST_CASE("fair share: participants and strangers of one origin alternate") {
  fair_share share({100, 100, 100});
  for (const auto key : keys{1, 2, 3, 4, 5}) share.add(key, "crowd");
  share.settle(5, true);
  for (const auto key : keys{1, 2, 3, 4, 5}) share.ready(key);
  keys turns;
  for (int n = 0; n < 6; ++n) {
    turns.push_back(share.next());
    share.ready(turns.back());  // all of them always want more
  }
  CHECK(std::count(turns.begin(), turns.end(), 5u) == 3);
  CHECK(std::adjacent_find(turns.begin(), turns.end()) == turns.end());
  turns.clear();
  share.settle(1, true);  // while they wait
  share.settle(5, false);
  for (int n = 0; n < 8; ++n) {
    turns.push_back(share.next());
    share.ready(turns.back());
  }
  CHECK(std::count(turns.begin(), turns.end(), 1u) == 4);
  for (const auto key : keys{2, 3, 4, 5}) CHECK(std::count(turns.begin(), turns.end(), key) == 1);
  share.settle(2, true);
  for (const auto key : keys{1, 2, 3, 4, 5}) share.remove(key);
  CHECK_FALSE(share.any_ready());
}

TEST_CASE("fair share: all loopback addresses are one client") {
  const auto at = [](const std::string& address) {
    orc::peer who;
    who.way = orc::peer::via::tcp;
    who.address = address;
    return orc::client_table::name_of(who);
  };
  for (const char* each : {"127.0.0.2", "127.255.3.4", "::1", "::ffff:127.0.0.9"}) CHECK(at(each) == at("127.0.0.1"));
  CHECK(at("127.0.0.1") == "address 127.0.0.1");
  CHECK(at("::ffff:192.0.2.1") == "address 192.0.2.1");
  CHECK(at("2001:db8::1") == "network 2001:db8::/64");
  CHECK(at("::2") != at("::1"));
  CHECK(at("") != at("127.0.0.1"));
}
