// Peer brokers that break rules, and beacons that lie: what they cost is bounded.
#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/federation/federation.h"
#include "broker/service/broker_service.h"
#include "orc/type_description.h"
#include "support/catch.h"
#include "support/topic_map_fixture.h"
#include "wire/beacon.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

struct world final : federation::owner {
  bool send(peer_reports::peer_key to, const std::string& frame) override {
    const auto message = wire::decode(std::as_bytes(std::span(frame)));
    REQUIRE(message);
    if (const auto* const question = std::get_if<wire::watch>(&message->content)) {
      watches[to] = message->request;
      positions[to] = question->position;
    }
    if (std::holds_alternative<wire::list_topics>(message->content)) questions.push_back(message->request);
    if (std::holds_alternative<wire::get_schema>(message->content)) schemas[to].push_back(message->request);
    return true;
  }
  void close(peer_reports::peer_key which, topic_map::duration) override { closed.insert(which); }
  void add(peer_reports::peer_key which, const std::string& endpoint) override {
    if (std::exchange(no_memory, false)) throw std::bad_alloc();
    added[which] = endpoint;
  }
  void remove(peer_reports::peer_key which) override { added.erase(which); }
  void displaced(const peer_reports::displaced&) override {}
  void log(broker_log_level, const std::string& text) override { lines.push_back(text); }

  std::map<peer_reports::peer_key, std::uint64_t> watches;
  std::map<peer_reports::peer_key, wire::watch_position> positions;
  std::map<peer_reports::peer_key, std::vector<std::uint64_t>> schemas;
  std::vector<std::uint64_t> questions;  // list_topics: whether a peer is still there
  std::set<peer_reports::peer_key> closed;
  std::map<peer_reports::peer_key, std::string> added;
  bool no_memory = false;  // for the next add()
  std::vector<std::string> lines;
};

struct fixture {
  explicit fixture(std::size_t peers = 2, topic_map_limits limits = {})
      : map(3s, limits), federated({endpoints(peers), "here", 1'000, 60s}, map, there) {
    for (std::size_t which = 0; which < peers; ++which) federated.connected(which, false, now);
  }
  static std::vector<std::string> endpoints(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t n = 0; n < count; ++n) all.push_back("tcp://192.0.2." + std::to_string(n + 1) + ":5570");
    return all;
  }
  void pass(topic_map::duration how_long) {
    now += how_long;
    federated.turn(now);
    while (!map.clean()) map.clean_up(now, 1'000);
  }
  void answer(std::size_t which, const wire::changes& what) {
    if (federated.list(now).peers.at(which).state == wire::peer_state::refused) return;
    const auto frame = wire::encode({there.watches[which], what});
    federated.receive(which, std::as_bytes(std::span(frame)), now);
  }
  [[nodiscard]] wire::peer_info peer(std::size_t which) const { return federated.list(now).peers.at(which); }
  [[nodiscard]] bool refused(std::size_t which) const { return peer(which).state == wire::peer_state::refused; }

  topic_map map;
  world there;
  federation federated;
  federation::time now{std::chrono::hours(1)};
};

wire::topic_state published(const std::string& topic, std::uint64_t id) {
  wire::topic_state made{topic, wire::publication_info{}, {}, 0};
  made.publication->publication = identity(id);
  made.publication->participant = identity(900);
  made.publication->host = "another-host";
  made.publication->endpoints = {{wire::transport::tcp, "tcp://192.0.2.1:4000"}};
  return made;
}

wire::changes page(std::uint64_t epoch, std::uint64_t until, std::vector<wire::topic_state> topics, bool reset = false,
                   bool more = false) {
  wire::changes made{{epoch, 1, until}, reset, more, std::move(topics), {}};
  made.host_name = "arm";
  return made;
}

}  // namespace

TEST_CASE("hostile peers: an answer that is cut off anywhere is refused", "[unit]") {
  const auto whole = wire::encode({1, page(7, 2, {published("pose", 20)}, true)});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = std::as_bytes(std::span(whole)).first(size);
    if (wire::decode(part)) {
      CHECK(whole.size() - size < 8);  // only padding is missing
      continue;
    }
    fixture f(1);
    f.federated.receive(0, part, f.now);
    CHECK(f.refused(0));
    CHECK(f.there.closed.contains(0));
    CHECK(f.map.topic_count() == 0);
  }
}

TEST_CASE("hostile peers: only an answer to the question is taken", "[unit]") {
  const std::vector<wire::body> others = {wire::welcome{}, wire::topic_state{"pose", {}, {}, 0}, wire::probe{},
                                          wire::goodbye{}, page(7, 2, {published("pose", 20)}, true)};
  for (const auto& each : others) {
    for (const std::uint64_t number : {0U, 1U, 99U}) {
      if (number == 1 && std::holds_alternative<wire::changes>(each)) continue;  // the answer
      fixture f(1);
      const auto frame = wire::encode({number, each});
      f.federated.receive(0, std::as_bytes(std::span(frame)), f.now);
      CHECK(f.refused(0));
      CHECK(f.map.topic_count() == 0);
    }
  }
}

TEST_CASE("hostile peers: a report without end ends at the limits of the tables, or of pages", "[unit]") {
  topic_map_limits limits;
  limits.topics = 1'000;
  fixture f(2, limits);
  f.answer(1, page(8, 2, {published("good", 20)}, true));
  std::uint64_t n = 0;
  for (; !f.refused(0) && n < 10'000; ++n)
    f.answer(0, page(7, n + 2, {published("t" + std::to_string(n), 100 + n)}, n == 0, true));
  CHECK(f.refused(0));
  CHECK(f.map.topic_count() <= 501);
  CHECK_THAT(f.peer(0).reason, contains("no more than"));
  CHECK(f.peer(1).state == wire::peer_state::up);
  CHECK(f.peer(1).topics == 1);

  fixture empty(1);
  for (n = 0; !empty.refused(0) && n < 300'000; ++n) empty.answer(0, page(7, n + 2, {}, n == 0, true));
  CHECK(empty.refused(0));
  CHECK_THAT(empty.peer(0).reason, contains("does not end"));
}

TEST_CASE("hostile peers: changes that go back, or are of another run, are refused and then reported in full",
          "[unit]") {
  for (const auto& wrong : {page(7, 4, {}), page(9, 6, {})}) {
    fixture f(1);
    f.answer(0, page(7, 5, {published("pose", 20)}, true));
    REQUIRE(f.peer(0).state == wire::peer_state::up);
    f.pass(20ms);
    f.answer(0, wrong);
    CHECK(f.refused(0));
    f.federated.connected(0, false, f.now);
    CHECK(f.there.positions[0] == wire::watch_position{});
  }
  // A report may leave versions out: what it left out was not for this peer.
  fixture f(1);
  f.answer(0, page(7, 5, {published("pose", 20)}, true));
  f.pass(20ms);
  f.answer(0, page(7, 5'000, {published("map", 21)}));
  CHECK(f.peer(0).state == wire::peer_state::up);
  CHECK(f.peer(0).topics == 2);
}

TEST_CASE("hostile peers: two peers that claim one name of a host, or one run, are told apart", "[unit]") {
  fixture f(3);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  f.answer(1, page(8, 2, {published("map", 21)}, true));
  CHECK(f.map.describe({"pose", {}}, f.now)->publication->host_name == "arm");
  CHECK(f.map.describe({"map", {}}, f.now)->publication->host_name == "arm (tcp://192.0.2.2:5570)");
  f.answer(2, page(7, 2, {published("other", 22)}, true));
  CHECK(f.refused(2));
  CHECK_THAT(f.peer(2).reason, contains("same broker"));
  CHECK(f.map.topic_count() == 2);
  // Nor can a peer claim this host's name, or change what another one has.
  fixture own(2);
  auto ours = page(7, 2, {published("pose", 20)}, true);
  ours.host_name = "here";
  own.answer(0, ours);
  CHECK(own.map.describe({"pose", {}}, own.now)->publication->host_name == "here (tcp://192.0.2.1:5570)");
  own.answer(1, page(8, 2, {published("pose", 20)}, true));
  CHECK(own.map.describe({"pose", {}}, own.now)->publication->host_name == "here (tcp://192.0.2.1:5570)");
}

TEST_CASE("hostile peers: a hundred thousand changes leave nothing behind", "[unit]") {
  topic_map_limits limits;
  limits.gone = 1'000;
  fixture f(1, limits);
  std::uint64_t changes = 0;
  std::uint64_t until = 1;
  for (std::uint64_t round = 0; changes < 100'000; ++round) {
    std::vector<wire::topic_state> come;
    std::vector<wire::topic_state> go;
    for (std::uint64_t n = 0; n < 100; ++n) {
      const auto name = "t" + std::to_string(n);
      auto state = published(name, 100 + round * 100 + n);
      // A type of its own, whose schema never comes.
      state.publication->type = wire::type_reference{"T", "jsonschema", "json", round * 100 + n + 1, 10};
      come.push_back(std::move(state));
      go.push_back({name, {}, {}, 0});
    }
    f.answer(0, page(7, ++until, std::move(come), round == 0));
    f.pass(10ms);
    f.answer(0, page(7, ++until, std::move(go)));
    f.pass(10ms);
    changes += 200;
  }
  CHECK(f.peer(0).state == wire::peer_state::up);
  CHECK(f.map.topic_count() == 0);
  CHECK(f.map.description_bytes() == 0);
  CHECK(f.map.types().size() == 0);
  CHECK(f.there.lines.size() < 10);
  // No question waits for a schema that no publication needs any more.
  const auto asked = f.there.schemas[0].size();
  for (int n = 0; n < 10; ++n) {
    const auto frame = wire::encode({f.there.schemas[0].back(), wire::error{wire::error_code::unknown_topic, "none"}});
    if (n == 0) f.federated.receive(0, std::as_bytes(std::span(frame)), f.now);
    f.pass(600ms);
    f.answer(0, page(7, ++until, {}));
  }
  CHECK(f.there.schemas[0].size() == asked);
}

TEST_CASE("hostile peers: a name that a peer takes and leaves in each answer fills no log", "[unit]") {
  broker_service_options options;
  options.host = "here";
  options.peers = {"tcp://192.0.2.1:5570"};
  std::size_t lines = 0;
  options.log = [&](broker_log_level, std::string_view) { ++lines; };
  std::uint64_t question = 0;
  options.send_to_peer = [&](peer_reports::peer_key, const std::string& frame) {
    const auto message = wire::decode(std::as_bytes(std::span(frame)));
    if (std::holds_alternative<wire::watch>(message->content)) question = message->request;
    return true;
  };
  federation::time now{std::chrono::hours(1)};
  broker_service service(
      std::move(options), [](topic_map::routing, const std::string&) { return true; }, now);
  const auto tell = [&](const wire::body& what) {
    const auto frame = wire::encode({1, what});
    service.receive(1, std::as_bytes(std::span(frame)), now);
  };
  service.opened(1, host("192.0.2.9"));
  tell(process(1));
  tell(wire::register_topic{"pose", identity(20), {{wire::transport::tcp, "tcp://192.0.2.9:4000"}}, {}});
  service.peer_connected(0, false, now);
  now += 1s;
  for (std::uint64_t n = 0; n < 99; ++n) {
    const auto state = n % 2 == 0 ? published("pose", 100 + n) : wire::topic_state{"pose", {}, {}, 0};
    const auto frame =
        wire::encode({question, page(std::numeric_limits<std::uint64_t>::max(), n + 2, {state}, n == 0)});
    service.receive_from_peer(0, std::as_bytes(std::span(frame)), now);
    now += federation::pace;
    service.turn(now);
  }
  CHECK(service.peers_up() == 1);
  CHECK(lines > 20);
  CHECK(lines <= 32);
  service.tick(now);
  CHECK(lines <= 33);  // and how many were left out
  CHECK(service.map().describe({"pose", {}}, now)->publication->publication == identity(20));
}

TEST_CASE("federation: a peer that had what another one lets go reports in full", "[unit]") {
  fixture f(2);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  f.answer(1, page(8, 2, {published("pose", 20)}, true));
  CHECK(f.peer(1).topics == 0);
  f.pass(20ms);
  f.answer(0, page(7, 3, {{"pose", {}, {}, 0}}));
  f.answer(1, page(8, 3, {}));  // the answer that was under way
  f.pass(20ms);
  CHECK(f.there.positions[1] == wire::watch_position{});
  f.answer(1, page(8, 3, {published("pose", 20)}, true));
  CHECK(f.peer(1).topics == 1);
  f.pass(20ms);
  CHECK(f.there.positions[1].until == 3);
}

TEST_CASE("federation: a broker that restarts keeps its topics while its programs register again", "[unit]") {
  fixture f(1);
  f.answer(0, page(7, 9, {published("pose", 20), published("map", 21)}, true));
  f.federated.lost(0, "ended", f.now);
  f.federated.connected(0, false, f.now);
  f.answer(0, page(8, 2, {}, true));  // nothing is registered yet
  f.pass(1s);
  CHECK(f.map.topic_count() == 2);
  f.answer(0, page(8, 3, {published("pose", 20)}));
  f.pass(federation::restart - 1'100ms);
  CHECK(f.map.topic_count() == 2);
  f.answer(0, page(8, 4, {}));
  REQUIRE(f.federated.next_deadline());
  f.pass(200ms);
  CHECK(f.map.topic_count() == 1);
  CHECK(f.map.describe({"pose", {}}, f.now)->publication);
  // A full report of the same run ends at once.
  f.federated.lost(0, "ended", f.now);
  f.federated.connected(0, false, f.now);
  f.answer(0, page(8, 5, {}, true));
  f.pass(0s);
  CHECK(f.map.topic_count() == 0);
}

TEST_CASE("federation: a broker that stalls now and then still forgets a dead host", "[unit]") {
  fixture f(1);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  f.federated.lost(0, "ended", f.now);
  f.pass(50s);
  f.now += 20s;
  f.federated.held_up(f.now, 20s);
  f.pass(0s);
  CHECK(f.map.topic_count() == 1);  // the stall does not count as silence
  CHECK(f.peer(0).silent_ms == 50'000);
  f.pass(9s);
  CHECK(f.map.topic_count() == 1);
  f.pass(2s);
  CHECK(f.map.topic_count() == 0);
}

TEST_CASE("federation: a participant learns which host took its name", "[unit]") {
  broker_service_options options;
  options.host = "here";
  options.peers = {"tcp://192.0.2.1:5570"};
  std::uint64_t question = 0;
  options.send_to_peer = [&](peer_reports::peer_key, const std::string& frame) {
    const auto message = wire::decode(std::as_bytes(std::span(frame)));
    if (std::holds_alternative<wire::watch>(message->content)) question = message->request;
    return true;
  };
  federation::time now{std::chrono::hours(1)};
  std::optional<wire::envelope> last;
  const auto keep = [&](topic_map::routing, const std::string& frame) {
    last = *wire::decode(std::as_bytes(std::span(frame)));
    return true;
  };
  broker_service service(std::move(options), keep, now);
  const auto tell = [&](const wire::body& what) {
    const auto frame = wire::encode({1, what});
    service.receive(1, std::as_bytes(std::span(frame)), now);
  };
  service.opened(1, host("192.0.2.9"));
  tell(process(1));
  tell(wire::register_topic{"pose", identity(20), {{wire::transport::tcp, "tcp://192.0.2.9:4000"}}, {}});
  service.peer_connected(0, false, now);
  auto older = published("pose", 30);
  older.publication->age_ms = 3'600'000;
  const auto frame = wire::encode({question, page(std::numeric_limits<std::uint64_t>::max(), 2, {older}, true)});
  service.receive_from_peer(0, std::as_bytes(std::span(frame)), now);
  tell(wire::heartbeat{});
  REQUIRE(last);
  REQUIRE(std::holds_alternative<wire::error>(last->content));
  CHECK(std::get<wire::error>(last->content).code == wire::error_code::unknown_participant);
  CHECK_THAT(std::get<wire::error>(last->content).text, contains("on host arm"));
}

TEST_CASE("hostile peers: one that never answers is silent, and asked anew", "[unit]") {
  fixture f(1);
  REQUIRE(f.federated.next_deadline());
  f.pass(federation::patience);
  CHECK(f.there.closed.contains(0));
  CHECK(f.peer(0).reason == "silent");
  CHECK(f.peer(0).state == wire::peer_state::connecting);
}

TEST_CASE("discovery: forged beacons cost a bounded number of connections, and real ones find a place", "[unit]") {
  fixture f(1);
  for (int n = 0; n < 20'000; ++n) {
    f.federated.discovered("tcp://198.51.100.1:" + std::to_string(1'000 + n), 5'000 + static_cast<std::uint64_t>(n),
                           f.now);
    f.pass(1ms);
    REQUIRE(f.there.added.size() < wire::max_peers);
  }
  CHECK(f.federated.list(f.now).peers.size() <= wire::max_peers);
  CHECK(f.there.lines.empty());
  // A real one sends a beacon every second, and is heard between the forged ones.
  bool found = false;
  for (int n = 0; n < 20'000 && !found; ++n) {
    if (n % 1'000 < 100) f.federated.discovered("tcp://192.0.2.77:5570", 77, f.now);
    f.federated.discovered("tcp://198.51.100.2:" + std::to_string(1'000 + n), 90'000, f.now);
    f.pass(1ms);
    found = std::any_of(f.there.added.begin(), f.there.added.end(),
                        [](const auto& each) { return each.second == "tcp://192.0.2.77:5570"; });
  }
  CHECK(found);
  f.pass(federation::beacon_lease);
  CHECK(f.there.added.empty());
  CHECK(f.federated.list(f.now).peers.size() == 1);
}

TEST_CASE("discovery: a broker is found once, not by itself, and stays while it answers", "[unit]") {
  fixture f(0);
  f.federated.discovered("tcp://192.0.2.9:5570", 1'000, f.now);  // our own
  CHECK(f.there.added.empty());
  f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now);
  REQUIRE(f.there.added.size() == 1);
  f.federated.connected(0, false, f.now);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  f.pass(100ms);
  f.federated.discovered("tcp://10.0.0.2:5570", 7, f.now);  // at another address
  CHECK(f.there.added.size() == 1);
  for (std::uint64_t n = 0; n < 20; ++n) {  // its beacons are lost
    f.pass(500ms);
    f.answer(0, page(7, 3 + n, {}));
  }
  CHECK(f.peer(0).state == wire::peer_state::up);
  f.federated.lost(0, "ended", f.now);
  CHECK(f.map.describe({"pose", {}}, f.now)->publication->stale);
  f.pass(30s);
  CHECK(f.peer(0).state == wire::peer_state::stale);
  f.pass(31s);
  CHECK(f.there.added.empty());
  CHECK(f.map.topic_count() == 0);
  // The key serves another one.
  f.federated.discovered("tcp://192.0.2.3:5570", 8, f.now);
  CHECK(f.there.added.at(0) == "tcp://192.0.2.3:5570");
}

TEST_CASE("discovery: a configured peer takes the place of a discovered one with its epoch", "[unit]") {
  fixture f(1);
  f.federated.discovered("tcp://198.51.100.1:5570", 7, f.now);
  REQUIRE(f.there.added.size() == 1);
  f.federated.connected(1, false, f.now);
  f.answer(1, page(7, 2, {published("pose", 20)}, true));
  REQUIRE(f.peer(1).state == wire::peer_state::up);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  CHECK(f.peer(0).state == wire::peer_state::up);
  CHECK(f.refused(1));
  CHECK(f.there.closed.contains(1));
  // Its topics are the configured peer's, and it comes back in vain.
  CHECK(f.peer(0).topics == 1);
  CHECK(f.peer(1).topics == 0);
  CHECK(f.map.describe({"pose", {}}, f.now)->publication->host_name == "arm");
  CHECK_FALSE(f.map.describe({"pose", {}}, f.now)->publication->stale);
  f.federated.connected(1, false, f.now);
  const auto frame = wire::encode({f.there.watches[1], page(7, 3, {}, true)});
  f.federated.receive(1, std::as_bytes(std::span(frame)), f.now);
  CHECK(f.peer(0).state == wire::peer_state::up);
  CHECK(f.refused(1));
}

TEST_CASE("discovery: another address of a broker that is up is given up", "[unit]") {
  fixture f(0);
  f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now);
  f.pass(100ms);
  f.federated.discovered("tcp://10.0.0.2:5570", 7, f.now);  // where it does not listen
  REQUIRE(f.there.added.size() == 2);
  f.federated.connected(0, false, f.now);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  for (std::uint64_t n = 0; n < 12; ++n) {
    f.pass(500ms);
    f.answer(0, page(7, 3 + n, {}));
    f.federated.discovered("tcp://10.0.0.2:5570", 7, f.now);
    f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now);
  }
  CHECK(f.there.added == std::map<peer_reports::peer_key, std::string>{{0, "tcp://192.0.2.2:5570"}});
  CHECK(f.map.topic_count() == 1);
}

TEST_CASE("discovery: a peer whose connection ends while it is asked whether it moved is forgotten in time", "[unit]") {
  fixture f(0);
  f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now);
  f.federated.connected(0, false, f.now);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  REQUIRE(f.map.topic_count() == 1);
  f.federated.discovered("tcp://10.0.0.2:5570", 7, f.now);
  f.federated.lost(0, "closed", f.now);
  const auto end = f.now + 70s;  // the lease and some
  while (f.now < end) {
    f.pass(federation::still_there);
    CHECK(f.federated.next_deadline().value_or(federation::time::max()) > f.now);
  }
  CHECK(f.map.topic_count() == 0);
}

TEST_CASE("discovery: a peer with several interfaces is asked once for each, and has the time of its round trip",
          "[unit]") {
  fixture f(0);
  f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now);
  f.federated.connected(0, false, f.now);
  f.pass(1'500ms);
  f.answer(0, page(7, 2, {published("pose", 20)}, true));
  for (const auto* const elsewhere : {"tcp://10.0.0.2:5570", "tcp://10.1.0.2:5570"}) {
    f.federated.discovered(elsewhere, 7, f.now);
    f.pass(1'400ms);
    CHECK(f.peer(0).state == wire::peer_state::up);
    const auto answer = wire::encode({f.there.questions.back(), wire::topic_list{}});
    f.federated.receive(0, std::as_bytes(std::span(answer)), f.now);
  }
  REQUIRE(f.there.questions.size() == 2);
  for (int n = 0; n < 20; ++n) {
    f.now += 400ms;
    f.federated.discovered("tcp://10.0.0.2:5570", 7, f.now);
    f.federated.discovered("tcp://10.1.0.2:5570", 7, f.now);
  }
  CHECK(f.there.questions.size() == 2);
}

TEST_CASE("discovery: without memory for one more peer, its key stays free", "[unit]") {
  fixture f(0);
  f.there.no_memory = true;
  CHECK_THROWS_AS(f.federated.discovered("tcp://192.0.2.2:5570", 7, f.now), std::bad_alloc);
  CHECK(f.federated.list(f.now).peers.empty());
  f.pass(federation::beacon_lease);  // nothing is removed that was never added
  f.federated.discovered("tcp://192.0.2.3:5570", 8, f.now);
  CHECK(f.there.added == std::map<peer_reports::peer_key, std::string>{{0, "tcp://192.0.2.3:5570"}});
}

TEST_CASE("discovery: only whole beacons are read", "[unit]") {
  const wire::beacon good{7, 5570, "lab-2"};
  const auto bytes = wire::encode(good);
  CHECK(wire::decode_beacon(std::as_bytes(std::span(bytes))) == good);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(wire::decode_beacon(std::as_bytes(std::span(bytes)).first(size)));
  const auto longer = bytes + "x";
  CHECK_FALSE(wire::decode_beacon(std::as_bytes(std::span(longer))));
  for (const auto& wrong : {wire::beacon{0, 5570, "lab"}, wire::beacon{7, 0, "lab"}, wire::beacon{7, 5570, ""},
                            wire::beacon{7, 5570, "a b"}, wire::beacon{7, 5570, std::string(64, 'a')}}) {
    const auto text = wire::encode(wrong);
    CHECK_FALSE(wire::decode_beacon(std::as_bytes(std::span(text))));
  }
}
