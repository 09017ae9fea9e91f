// What peer brokers report: how maps merge, which of two publications wins, and what a peer may see.
#include <algorithm>

#include "support/peer_reports.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using fixture = topic_map_fixture;

namespace {

constexpr peer_reports::peer_key other = 0;

}  // namespace

TEST_CASE("peers in the map: a topic of another host is found, moves and goes as one of this host") {
  fixture f;
  f.join("reader", 1);
  f.requested("reader", "pose", 10);
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  imported(f, exclusive("pose", publication(20, 5s)));
  auto events = f.taken();
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].state.publication);
  CHECK(events[0].state.publication->host_name == "arm");
  CHECK(events[0].state.publication->participant_name == "there");
  CHECK(events[0].state.publication->endpoints == publication(20, 5s).endpoints);

  imported(f, exclusive("pose", publication(20, 6s)));  // the same
  CHECK(f.taken().empty());
  imported(f, exclusive("pose", publication(20, 6s, "tcp://192.0.2.1:4001")));
  CHECK(f.taken().size() == 1);

  imported(f, wire::topic_state{"pose", {}, {}, 0});
  events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK_FALSE(events[0].state.publication);
}

TEST_CASE("peers in the map: the older publication wins where this broker decides") {
  const auto ours_survives = [](std::chrono::milliseconds ours, std::chrono::milliseconds theirs, std::uint64_t our_id,
                                std::uint64_t their_id) {
    fixture f;
    f.join("publisher", 1);
    f.registered("publisher", reachable("pose", our_id));
    f.now += ours;
    f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
    const auto news = imported(f, exclusive("pose", publication(their_id, theirs)));
    const auto state = f.described("pose");
    REQUIRE(state.publication);
    CHECK(state.publication->host_name == (news.lost.empty() ? "" : "arm"));
    CHECK(news.contested.size() == (news.lost.empty() ? 1 : 0));
    wire::watch_position position;
    const auto told = exports(f, position);
    if (news.lost.empty()) {
      REQUIRE(told.size() == 1);
      CHECK(told[0].displaced == std::vector{identity(their_id)});
    }
    return news.lost.empty();
  };
  CHECK(ours_survives(10s, 5s, 20, 30));
  CHECK_FALSE(ours_survives(5s, 10s, 30, 20));
  CHECK(ours_survives(10s, 5s, 30, 20));
  CHECK_FALSE(ours_survives(5s, 10s, 20, 30));
  CHECK(ours_survives(10s, 10s, 20, 30));
  CHECK_FALSE(ours_survives(10s, 10s, 30, 20));
}

TEST_CASE("peers in the map: where the peer decides, a publication keeps its name until the peer takes it") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  f.registered("publisher", reachable("map", 21));
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm", false));
  CHECK(imported(f, exclusive("pose", publication(30, 1h))).lost.empty());
  CHECK(f.described("pose").publication->host_name.empty());
  wire::watch_position position;
  for (const auto& each : exports(f, position)) CHECK(each.displaced.empty());
  auto decided = exclusive("pose", publication(30, 1h));
  decided.displaced = {identity(99), identity(21), identity(20)};  // one unknown, one of another topic
  const auto news = imported(f, decided);
  REQUIRE(news.lost.size() == 1);
  CHECK(news.lost[0].participant == identity(1));
  CHECK(f.described("pose").publication->host_name == "arm");
  CHECK(f.described("map").publication->host_name.empty());
  // A peer without a publication of the topic takes nothing.
  wire::topic_state nothing{"map", {}, {}, 0};
  nothing.displaced = {identity(21)};
  CHECK(imported(f, nothing).lost.empty());
  CHECK(f.described("map").publication);
}

TEST_CASE("peers in the map: a topic that stays on this host does not compete with one of a peer") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", registration("pose", 20));
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  const auto news = imported(f, exclusive("pose", publication(30, 1h)));
  CHECK(news.lost.empty());
  CHECK(f.described("pose").publication->host_name.empty());
}

TEST_CASE("peers in the map: the loser is told with the host of the winner, and cannot register again") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  const auto news = imported(f, exclusive("pose", publication(30, 1h)));
  REQUIRE(news.lost.size() == 1);
  CHECK(news.lost[0].participant == identity(1));
  CHECK_THAT(news.lost[0].text, contains("on host arm"));
  const auto refused = f.register_error("publisher", reachable("pose", 20));
  CHECK(refused.code == wire::error_code::name_taken);
  CHECK_THAT(refused.text, contains("on host arm"));
  // The name is free when the winner ends.
  imported(f, wire::topic_state{"pose", {}, {}, 0});
  f.registered("publisher", reachable("pose", 20));
}

TEST_CASE("peers in the map: a younger publication of a peer is found when the older one here ends") {
  fixture f;
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  f.now += 10s;
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  imported(f, exclusive("pose", publication(30, 1s)));
  f.registered("publisher", reachable("pose", 20));  // its session was renewed: it has the name still
  CHECK(f.described("pose").publication->publication == identity(20));
  REQUIRE(f.map.unregister_topic(at("publisher"), {"pose", identity(20)}, f.now));
  CHECK(f.described("pose").publication->publication == identity(30));
}

TEST_CASE("peers in the map: shared topics merge") {
  fixture f;
  f.join("publisher", 1);
  auto ours = reachable("stop", 20);
  ours.shared = true;
  f.registered("publisher", ours);
  f.map.peers().up(0, facts("tcp://192.0.2.1:5570", "arm"));
  f.map.peers().up(1, facts("tcp://192.0.2.2:5570", "base"));
  CHECK(imported(f, shared("stop", {publication(30, 1h), publication(31, 1h)}), 0).lost.empty());
  CHECK(imported(f, shared("stop", {publication(40, 1s)}), 1).lost.empty());
  CHECK(f.described("stop").publications.size() == 4);
  imported(f, shared("stop", {publication(31, 1h)}), 0);
  const auto state = f.described("stop");
  REQUIRE(state.publications.size() == 3);
  CHECK(std::count_if(state.publications.begin(), state.publications.end(),
                      [](const auto& each) { return each.host_name == "arm"; }) == 1);
}

TEST_CASE("peers in the map: a full report removes what it does not have, and leaves the rest alone") {
  fixture f;
  f.join("reader", 1);
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  f.map.peers().begin_report(other);
  for (std::uint64_t n = 0; n < 1'000; ++n) imported(f, exclusive("t" + std::to_string(n), publication(1'000 + n, 1s)));
  f.map.peers().end_report(other);
  f.clean_up();
  CHECK(f.map.topic_count() == 1'000);
  f.requested("reader", "t7", 10);
  f.requested("reader", "t8", 11);
  f.map.peers().begin_report(other);
  for (std::uint64_t n = 0; n < 1'000; n += 7)
    imported(f, exclusive("t" + std::to_string(n), publication(1'000 + n, 2s)));
  f.map.peers().end_report(other);
  f.clean_up();
  const auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].state.topic == "t8");
  CHECK(f.map.peers().topics_of(other) == 143);
  CHECK(f.map.topic_count() == 144);
}

TEST_CASE("peers in the map: topics of a silent peer are stale, still found, and gone with it") {
  fixture f;
  f.join("reader", 1);
  f.join("publisher", 2);
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  imported(f, exclusive("pose", publication(20, 5s)));
  f.map.peers().stale(other);
  CHECK(f.requested("reader", "pose", 10).publication->stale);
  CHECK_THAT(f.register_error("publisher", reachable("pose", 21)).text, contains("does not answer"));
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  CHECK_FALSE(f.described("pose").publication->stale);
  f.map.peer_gone(other, f.now);
  f.clean_up();
  CHECK(f.taken().size() == 1);
  CHECK_FALSE(f.described("pose").publication);
  f.registered("publisher", reachable("pose", 21));
}

TEST_CASE("peers in the map: a peer cannot use up the tables") {
  topic_map_limits limits;
  limits.topics = 100;
  fixture f(limits);
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  std::uint64_t taken = 0;
  while (f.map.peers().import(other, exclusive("t" + std::to_string(taken), publication(1'000 + taken, 1s)), f.now))
    ++taken;
  CHECK(taken == 50);
  f.join("publisher", 1);
  f.registered("publisher", reachable("pose", 20));
  // One id for two topics.
  CHECK_FALSE(f.map.peers().import(other, exclusive("t1", publication(1'000, 1s)), f.now));
  // The id of a publication here changes nothing.
  imported(f, exclusive("pose", publication(20, 1h)));
  CHECK(f.described("pose").publication->host_name.empty());
}

TEST_CASE("peers in the map: a peer sees what participants here publish at addresses that it reaches") {
  fixture f;
  f.join("publisher", 1);
  auto everywhere = reachable("pose", 20);
  everywhere.endpoints.push_back({wire::transport::ipc, "ipc:///a"});
  everywhere.endpoints.push_back({wire::transport::tcp, "tcp://127.0.0.1:4000"});
  f.registered("publisher", everywhere);
  f.registered("publisher", registration("local", 21));
  f.registered("publisher", reachable("loop", 22, "tcp://127.0.0.1:4000"));
  f.map.peers().up(other, facts("tcp://192.0.2.1:5570", "arm"));
  imported(f, exclusive("theirs", publication(30, 5s)));
  f.now += 3s;
  wire::watch_position position;
  auto seen = exports(f, position);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].topic == "pose");
  REQUIRE(seen[0].publication);
  CHECK(seen[0].publication->endpoints == reachable("pose", 20).endpoints);
  CHECK(seen[0].publication->age_ms == 3'000);
  CHECK(exports(f, position).empty());

  REQUIRE(f.map.unregister_topic(at("publisher"), {"pose", identity(20)}, f.now));
  seen = exports(f, position);
  REQUIRE(seen.size() == 1);
  CHECK_FALSE(seen[0].publication);
  imported(f, wire::topic_state{"theirs", {}, {}, 0});
  CHECK(exports(f, position).empty());  // nothing is forwarded

  wire::watch_position on_this_host;
  seen = exports(f, on_this_host, true);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].topic == "loop");
}
