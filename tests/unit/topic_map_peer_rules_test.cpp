// What peer brokers cannot do to a topic map, and to each other.
#include <algorithm>
#include <functional>

#include "support/peer_reports.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using fixture = topic_map_fixture;

namespace {

constexpr peer_reports::peer_key other = 0;

}  // namespace

TEST_CASE("peers in the map: a report that breaks a rule halfway leaves no topic to a peer without one") {
  fixture f;
  f.join("reader", 1);
  f.requested("reader", "pose", 10);
  f.map.peers().up(0, facts("tcp://192.0.2.1:5570", "arm"));
  f.map.peers().up(1, facts("tcp://192.0.2.2:5570", "base"));
  imported(f, exclusive("map", publication(31, 1s)), 1);
  imported(f, shared("stop", {publication(30, 1s)}), 0);
  f.map.peers().stale(0);
  // Takes publication 30 from the silent peer, then fails.
  CHECK_FALSE(f.map.peers().import(1, shared("stop", {publication(30, 1s), publication(31, 1s)}), f.now));
  CHECK(f.described("stop").publications.at(0).host_name == "base");
  f.map.peer_gone(0, f.now);
  f.clean_up();
  CHECK(f.described("stop").publications.size() == 1);
  f.map.peer_gone(1, f.now);
  f.clean_up();
  CHECK(f.map.topic_count() == 1);
}

TEST_CASE("peers in the map: a peer that restarts is told again which of its publications lost") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  f.now += 10s;
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm", false));
  f.map.peers().begin_report(other);
  imported(f, exclusive("pose", publication(30, 5s)));
  f.map.peers().end_report(other);
  wire::watch_position position;
  auto told = exports(f, position);  // read by the peer's new run, before this broker read its report
  REQUIRE(told.size() == 1);
  CHECK(told[0].displaced.empty());
  f.map.peers().up(other,
                   facts("tcp://192.0.2.1:5570", "arm", true));  // its new epoch leaves the decision to this broker
  f.map.peers().begin_report(other);
  imported(f, exclusive("pose", publication(30, 5s)));
  told = exports(f, position);
  REQUIRE(told.size() == 1);
  CHECK(told[0].displaced == std::vector{identity(30)});
}

TEST_CASE("peers in the map: a peer that reports many losers does not hide those of another one") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  f.now += 10s;
  f.map.peers().up(0, facts("tcp://192.0.2.1:5570", "greedy"));
  f.map.peers().up(1, facts("tcp://192.0.2.2:5570", "arm"));
  std::vector<wire::publication_info> many;
  for (std::uint64_t n = 0; n < wire::max_publishers; ++n) many.push_back(publication(100 + n, 1s));
  auto cheat = exclusive("pose", publication(99, 1s));
  cheat.publications = many;
  CHECK_FALSE(f.map.peers().import(0, std::move(cheat), f.now));
  imported(f, shared("pose", many), 0);
  imported(f, exclusive("pose", publication(1'000, 1s)), 1);
  wire::watch_position position;
  auto told = exports(f, position);
  REQUIRE(told.size() == 1);
  CHECK(told[0].displaced == std::vector{identity(100), identity(1'000)});
  // When the first one is gone, the next one is named.
  many.erase(many.begin());
  imported(f, shared("pose", many), 0);
  told = exports(f, position);
  REQUIRE(told.size() == 1);
  CHECK(told[0].displaced == std::vector{identity(101), identity(1'000)});
}

TEST_CASE("peers in the map: a topic that stays on this host is registered whatever a peer publishes") {
  fixture f;
  f.join("publisher", 1);
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  imported(f, exclusive("pose", publication(30, 1h)));
  f.registered("publisher", registration("pose", 20));
  CHECK(f.described("pose").publication->publication == identity(20));
  CHECK(f.register_error("publisher", reachable("pose", 20)).code == wire::error_code::name_taken);
  // Whom the refused participant was told is whom all others find.
  CHECK(f.described("pose").publication->publication == identity(30));
  f.registered("publisher", registration("pose", 20));  // where it stays on this host, it has it again
  CHECK(f.described("pose").publication->publication == identity(20));
}

TEST_CASE("peers in the map: publishers that take longer names later do not stop the report") {
  // As much as 64 publishers of a topic can register while they have no names.
  const auto fill = [](fixture& f, std::size_t length) {
    for (std::uint64_t n = 1; n <= wire::max_publishers; ++n) {
      auto who = process(n);
      who.name.clear();
      const auto from = "publisher" + std::to_string(n);
      REQUIRE(f.hello(from, who, user(static_cast<std::uint32_t>(n))));
      auto what = reachable("stop", 100 + n);
      what.shared = true;
      what.type = wire::type_reference{std::string(length, 'T'), std::string(length, 's'), "json", 7, 10};
      if (!std::holds_alternative<wire::topic_state>(f.map.register_topic(at(from), what, f.now))) return false;
    }
    return true;
  };
  std::size_t length = 255;
  const auto fits = [&] {
    fixture trial;
    return fill(trial, length);
  };
  while (!fits()) --length;
  fixture f;
  REQUIRE(fill(f, length));
  for (std::uint64_t n = 1; n <= wire::max_publishers; ++n) {
    auto who = process(n);
    who.name.assign(255, 'n');
    REQUIRE(f.hello("publisher" + std::to_string(n), who, user(static_cast<std::uint32_t>(n))));
  }
  wire::watch_position position;
  std::size_t pages = 0;
  bool more = true;
  std::vector<wire::topic_state> told;
  for (; more && pages < 10; ++pages) {
    std::size_t steps = 100'000;
    auto page = f.map.exports().since({{"**"}, false, position, 0, true}, false, steps, f.now);
    position = page.position;
    more = page.more;
    std::move(page.topics.begin(), page.topics.end(), std::back_inserter(told));
  }
  CHECK_FALSE(more);
  REQUIRE(told.size() == 1);
  CHECK(told[0].publications.size() > 32);
  CHECK(told[0].publications.size() < wire::max_publishers);
}

TEST_CASE("peers in the map: a publication that moved between hosts is asked for again when the first one lets it go") {
  const auto moved = [](const std::function<void(fixture&)>& let_go) {
    fixture f;
    f.map.peers().up(0, facts("tcp://192.0.2.1:5570", "arm"));
    f.map.peers().up(1, facts("tcp://192.0.2.2:5570", "base"));
    imported(f, exclusive("pose", publication(30, 1h)), 0);
    imported(f, exclusive("map", publication(31, 1h)), 0);
    imported(f, exclusive("pose", publication(30, 1s)), 1);
    CHECK(f.described("pose").publication->host_name == "arm");
    imported(f, wire::topic_state{"map", {}, {}, 0}, 0);
    CHECK_FALSE(f.map.peers().misses_any(1));  // it was not left out
    let_go(f);
    CHECK_FALSE(f.map.peers().misses_any(0));
    REQUIRE(f.map.peers().misses_any(1));
    f.map.peers().begin_report(1);
    imported(f, exclusive("pose", publication(30, 1s)), 1);
    f.map.peers().end_report(1);
    f.clean_up();
    CHECK_FALSE(f.map.peers().misses_any(1));
    CHECK(f.described("pose").publication->host_name == "base");
  };
  moved([](fixture& f) { imported(f, wire::topic_state{"pose", {}, {}, 0}, 0); });
  moved([](fixture& f) { f.map.peers().stale(0); });
  moved([](fixture& f) {
    f.map.peers().begin_report(0);
    f.map.peers().end_report(0);
    f.clean_up();
  });
}

TEST_CASE("peers in the map: discovered peers share one half of the tables, and those at one address a part of it") {
  topic_map_limits limits;
  limits.topics = 1'000;
  fixture f(limits);
  std::uint64_t id = 1'000;
  const auto fill = [&](peer_reports::peer_key which, const std::string& endpoint) {
    auto what = facts(endpoint, "host" + std::to_string(which));
    what.discovered = true;
    f.map.peers().up(which, what);
    std::size_t taken = 0;
    while (f.map.peers().import(which, exclusive("t" + std::to_string(id), publication(id, 1s)), f.now)) {
      ++taken;
      ++id;
    }
    return taken;
  };
  CHECK(fill(0, "tcp://192.0.2.1:5570") == 250);
  for (peer_reports::peer_key which = 1; which < 20; ++which)
    CHECK(fill(which, "tcp://192.0.2.1:" + std::to_string(5'570 + which)) == 0);
  CHECK(fill(20, "tcp://192.0.2.2:5570") == 125);
  for (peer_reports::peer_key which = 21; which < 40; ++which)
    (void)fill(which, "tcp://192.0.2." + std::to_string(which) + ":5570");
  CHECK(f.map.topic_count() <= 500);
  f.join("publisher", 1);
  for (std::uint64_t n = 0; n < 200; ++n) f.registered("publisher", reachable("own" + std::to_string(n), n + 1));
}

TEST_CASE("peers in the map: a peer with many publications of a shared topic hides no other publisher") {
  fixture f;
  f.map.peers().up(0, facts("tcp://192.0.2.1:5570", "greedy"));
  f.map.peers().up(1, facts("tcp://192.0.2.2:5570", "arm"));
  std::vector<wire::publication_info> many;
  for (std::uint64_t n = 1; n <= wire::max_publishers; ++n) many.push_back(publication(n, 1h));
  imported(f, shared("stop", many), 0);
  imported(f, shared("stop", {publication(1'000, 1s)}), 1);
  f.join("publisher", 1);
  auto ours = reachable("stop", 2'000);
  ours.shared = true;
  f.registered("publisher", ours);
  const auto state = f.described("stop");
  CHECK(state.publications.size() == wire::max_publishers);
  CHECK(state.publications.back().publication == identity(2'000));
  CHECK(state.publications[state.publications.size() - 2].publication == identity(1'000));
}

TEST_CASE("peers in the map: a topic that only this host reaches competes with the peers of this host alone") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20, "tcp://127.0.0.1:4000"));
  auto here = facts("tcp://127.0.0.1:5571", "simulated");
  here.same_host = true;
  f.map.peers().up(0, here);
  f.map.peers().up(1, facts("tcp://192.0.2.1:5570", "arm"));
  CHECK(imported(f, exclusive("pose", publication(40, 2h)), 1).lost.empty());
  const auto news = imported(f, exclusive("pose", publication(30, 1h)), 0);
  REQUIRE(news.lost.size() == 1);
  CHECK_THAT(news.lost[0].text, contains("on host simulated"));
}
