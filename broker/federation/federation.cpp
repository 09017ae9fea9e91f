#include "broker/federation/federation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text/printable.h"
#include "broker/map/endpoint_rules.h"

namespace orc {
namespace {

// A full report of more topics than a broker can have does not end.
constexpr std::size_t most_in_a_report = 200'000;
constexpr std::chrono::milliseconds schema_pause{500};

std::string printable(const std::string& text) {
  auto shown = detail::escaped(text, detail::backslashes::kept);
  return shown.size() <= wire::max_text ? shown : std::string();
}

std::uint32_t milliseconds(federation::time from, federation::time to) {
  const auto elapsed = std::chrono::duration_cast<federation::duration>(to - from).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(elapsed, 0, std::numeric_limits<std::uint32_t>::max()));
}

constexpr std::size_t max_elsewhere = 4;

}  // namespace

federation::federation(options chosen, topic_map& map, owner& world)
    : options_(std::move(chosen)), map_(map), world_(world), peers_(options_.peers.size()) {
  for (peer_key which = 0; which < peers_.size(); ++which) peers_[which].endpoint = options_.peers[which];
}

void federation::connected(peer_key which, bool same_host, time now) {
  auto& peer = peers_.at(which);
  peer.connected = true;
  peer.same_host = same_host;
  peer.watch = peer.schema = peer.challenge = 0;
  peer.challenge_ends.reset();
  peer.connected_at = now;
  peer.schemas_after.reset();
  peer.silent_at = now + patience;
  ask(which, now);
}

void federation::lost(peer_key which, std::string_view why, time) {
  auto& peer = peers_.at(which);
  peer.connected = false;
  if (peer.state != wire::peer_state::refused) peer.reason = why;
  if (peer.state != wire::peer_state::up) return;
  peer.state = wire::peer_state::stale;
  map_.peers().stale(which);
  world_.log(broker_log_level::warning, named(peer) + " does not answer (" + peer.reason + "): its " +
                                            std::to_string(map_.peers().topics_of(which)) + " topic(s) are kept for " +
                                            std::to_string(options_.lease.count() / 1'000) + " s");
}

void federation::receive(peer_key which, std::span<const std::byte> frame, time now) {
  auto& peer = peers_.at(which);
  if (!peer.connected) return;
  auto decoded = wire::decode(frame);
  if (!decoded) return broken(which, decoded.error().text, now);
  const auto number = decoded->request;
  auto& content = decoded->content;
  peer.challenge_ends.reset();  // whatever it says, it is still there
  if (const auto since = std::exchange(peer.connected_at, std::nullopt))
    peer.trip = std::min(std::chrono::duration_cast<duration>(now - *since), longest_trip);
  if (number != 0 && number == peer.challenge) {
    peer.challenge = 0;
    return;
  }
  if (number != 0 && number == peer.watch) {
    peer.watch = 0;
    if (auto* const news = std::get_if<wire::changes>(&content)) return on(which, *news, now);
  } else if (number != 0 && number == peer.schema) {
    peer.schema = 0;
    if (const auto* const part = std::get_if<wire::schema_part>(&content)) return on(which, *part, now);
    if (std::holds_alternative<wire::error>(content)) {
      peer.schemas_after = now + schema_pause;
      return;
    }
  }
  if (const auto* const error = std::get_if<wire::error>(&content)) return broken(which, error->text, now);
  broken(which, "an answer that was not asked for", now);
}

void federation::on(peer_key which, wire::changes& what, time now) {
  auto& peer = peers_[which];
  const auto host_name = printable(what.host_name);
  if (host_name.empty()) return broken(which, "it does not know peer brokers: update it", now);
  if (!what.reset && (what.position.epoch != peer.position.epoch || what.position.until < peer.position.until))
    return broken(which, "changes that do not follow its last ones", now);
  if (what.position.epoch == options_.epoch) return broken(which, "it is this broker itself", now);
  // A stranger can send a copied epoch. So a peer that only its beacon named never shuts out a configured one.
  while (const auto other = twin_of(which, what.position.epoch)) {
    const bool gives_way = peers_[*other].discovered && !peer.discovered;
    broken(gives_way ? *other : which, "another endpoint leads to the same broker", now);
    if (!gives_way) return;
    peers_[*other].host_name.clear();  // the name is free
  }
  peer.last_word = now;
  peer.silent_at = now + ask_again + patience;
  if (peer.known && peer.epoch != what.position.epoch) peer.settled_at = now + restart;
  peer.epoch = what.position.epoch;
  peer.position = what.position;
  const bool returned = peer.state != wire::peer_state::up;
  peer.host_name = host_name;
  map_.peers().up(
      which, {peer.endpoint, label_of(which), peer.same_host, peer.discovered, options_.epoch < what.position.epoch});
  peer.known = true;
  peer.state = wire::peer_state::up;
  peer.reason.clear();
  if (what.reset) {
    map_.peers().begin_report(which);
    peer.reporting = true;
    peer.unswept = true;
    peer.reported = 0;
  }
  peer.reported += what.topics.size() + 1;
  if (peer.reported > most_in_a_report) return broken(which, "its report does not end", now);
  for (auto& each : what.topics) {
    if (!take(which, each, now)) return;
  }
  if (!what.more) {
    peer.reporting = false;
    peer.reported = 0;
    end_report(which, now);
  }
  if (returned)
    world_.log(broker_log_level::info,
               named(peer) + " is up, with " + std::to_string(map_.peers().topics_of(which)) + " topic(s) so far");
  peer.next_ask = what.more ? now : std::max(now, peer.next_ask + pace);
  if (peer.next_ask <= now) ask(which, now);
  ask_for_schema(which, now);
}

// What a full report left out is gone. When the peer's broker has just started, programs there may still register.
void federation::end_report(peer_key which, time now) {
  auto& peer = peers_[which];
  if (!peer.is_up() || peer.reporting || !peer.unswept || now < peer.settled_at) return;
  peer.unswept = false;
  map_.peers().end_report(which);
}

bool federation::take(peer_key which, wire::topic_state& state, time now) {
  auto& peer = peers_[which];
  const auto check = [&](wire::publication_info& each) {
    each.participant_name = printable(each.participant_name);
    each.host = printable(each.host);
    each.client = printable(each.client);
    auto checked = endpoint_rules::check_peer(each.endpoints, peer.same_host);
    if (!checked) broken(which, "topic \"" + state.topic + "\": " + checked.error().message(), now);
    return static_cast<bool>(checked);
  };
  if (state.publication && !check(*state.publication)) return false;
  for (auto& each : state.publications) {
    if (!check(each)) return false;
  }
  auto done = map_.peers().import(which, std::move(state), now);
  if (!done) {
    broken(which, done.error().text, now);
    return false;
  }
  for (const auto& each : done->lost) {
    world_.log(broker_log_level::warning, each.text);
    world_.displaced(each);
  }
  for (const auto& each : done->contested) world_.log(broker_log_level::warning, each);
  peer.lacking.insert(done->lacking.begin(), done->lacking.end());
  // A peer whose types come and go must not fill it.
  if (peer.lacking.size() > 2 * map_.peers().topics_of(which) + 64)
    std::erase_if(peer.lacking, [&](std::uint64_t hash) { return !map_.peers().uses_type(which, hash); });
  return true;
}

void federation::on(peer_key which, const wire::schema_part& what, time now) {
  auto& peer = peers_[which];
  if (what.hash != peer.asked.hash || what.offset != peer.asked.offset || what.bytes.empty())
    return broken(which, "a part of another schema", now);
  const auto done = map_.peers().add_schema(which, what, now);
  peer.asked.offset += static_cast<std::uint32_t>(what.bytes.size());
  // The type may have gone meanwhile, or another participant sent the schema. Both end the transfer.
  if (!done || map_.has_schema(what.hash)) {
    peer.lacking.erase(what.hash);
    peer.asked = {};
  }
  ask_for_schema(which, now);
}

void federation::ask(peer_key which, time now) {
  auto& peer = peers_[which];
  peer.next_ask = now;
  if (map_.peers().misses_any(which) && !peer.reporting && peer.full_report_at <= now) {
    peer.position = {};
    peer.full_report_at = now + ask_again;
  }
  request(which, peer.watch,
          wire::watch{{"**"}, false, peer.position, static_cast<std::uint32_t>(ask_again.count()), true});
}

void federation::ask_for_schema(peer_key which, time now) {
  auto& peer = peers_[which];
  if (!peer.connected || peer.schema != 0 || (peer.schemas_after && *peer.schemas_after > now)) return;
  const bool paused = std::exchange(peer.schemas_after, std::nullopt).has_value();
  while (!peer.lacking.empty()) {
    // After one that the peer does not have, asks for the others first.
    auto next = peer.asked.hash == 0 ? peer.lacking.begin()
                : paused             ? peer.lacking.upper_bound(peer.asked.hash)
                                     : peer.lacking.lower_bound(peer.asked.hash);
    if (next == peer.lacking.end()) next = peer.lacking.begin();
    if (map_.has_schema(*next) || !map_.peers().uses_type(which, *next)) {
      peer.lacking.erase(next);
      peer.asked = {};
      continue;
    }
    if (*next != peer.asked.hash || paused) peer.asked = {*next, 0};
    return request(which, peer.schema, peer.asked);
  }
}

void federation::request(peer_key which, std::uint64_t& number, wire::body content) {
  auto& peer = peers_[which];
  if (!peer.connected) return;
  number = ++peer.last_request;
  (void)world_.send(which, wire::encode({number, std::move(content)}));
}

void federation::broken(peer_key which, const std::string& why, time) {
  auto& peer = peers_[which];
  ++rejected_;
  const bool same = peer.reason == printable(why);
  peer.reason = printable(why);
  if (!same) world_.log(broker_log_level::warning, named(peer) + " is refused: " + why);
  if (peer.known) map_.peers().stale(which);
  peer.state = wire::peer_state::refused;
  peer.connected = false;
  peer.position = {};  // a full report follows
  world_.close(which, banned);
}

void federation::turn(time now) {
  for (peer_key which = 0; which < peers_.size(); ++which) {
    auto& peer = peers_[which];
    const bool has_moved = peer.challenge_ends && *peer.challenge_ends <= now;
    if (has_moved) peer.challenge_ends.reset();  // also where the connection has ended meanwhile
    if (peer.connected && (peer.silent_at <= now || has_moved)) {
      world_.close(which, {});
      lost(which, "silent", now);
    }
    if (has_moved) {
      discovered(std::string(peer.moved_to), peer.epoch, now);  // peers_ may grow
      continue;
    }
    end_report(which, now);
    if (peer.connected && peer.watch == 0 && peer.next_ask <= now) ask(which, now);
    if (peer.connected && peer.schemas_after) ask_for_schema(which, now);
    if (peer.known && peer.state != wire::peer_state::up && *peer.last_word + options_.lease <= now) forget(which, now);
    if (peer.discovered && !peer.known && peer.beacon_at + beacon_lease <= now) remove(which);
  }
}

// ---- discovered peers ----

void federation::discovered(const std::string& endpoint, std::uint64_t epoch, time now) {
  if (epoch == options_.epoch) return;
  const auto known =
      std::find_if(peers_.begin(), peers_.end(), [&](const auto& each) { return each.endpoint == endpoint; });
  // The same broker at another address, where it may not even listen. A peer that is not up could claim any epoch.
  const auto up = std::find_if(peers_.begin(), peers_.end(), [&](const auto& each) {
    return each.is_up() && each.position.epoch == epoch && each.endpoint != endpoint;
  });
  const bool elsewhere = up != peers_.end();
  if (elsewhere) challenge(static_cast<peer_key>(up - peers_.begin()), endpoint, now);
  if (known != peers_.end() && (known->known || !elsewhere)) known->beacon_at = now;
  if (known != peers_.end() || elsewhere) return;
  if (now < next_discovery_) return;
  const auto which = free_key(now);
  if (!which) return;
  peer_broker made;
  made.endpoint = endpoint;
  made.discovered = true;
  made.discovered_at = made.beacon_at = now;
  world_.add(*which, endpoint);  // may throw, and then the key stays free
  peers_[*which] = std::move(made);
  next_discovery_ = now + discovery_pace;
}

// Its host's address may have changed: then its connection is dead, and would be silent for seconds. A beacon may be
// forged, or come from another interface of the same host, so the peer may answer.
void federation::challenge(peer_key which, const std::string& elsewhere, time now) {
  auto& peer = peers_[which];
  std::erase_if(peer.elsewhere, [&](const auto& each) { return each.second + beacon_lease <= now; });
  const auto known = std::ranges::find(peer.elsewhere, elsewhere, &std::pair<std::string, time>::first);
  const bool is_news = known == peer.elsewhere.end();
  if (!is_news) known->second = now;
  if (!peer.discovered || !is_news || peer.challenge != 0) return;
  if (peer.elsewhere.size() >= max_elsewhere) peer.elsewhere.pop_back();
  peer.elsewhere.emplace(peer.elsewhere.begin(), elsewhere, now);
  peer.moved_to = elsewhere;
  peer.challenge_ends = now + still_there + 2 * peer.trip;
  request(which, peer.challenge, wire::list_topics{{}, 1});
}

std::optional<federation::peer_key> federation::free_key(time now) {
  std::optional<peer_key> oldest;
  for (peer_key which = 0; which < peers_.size(); ++which) {
    const auto& peer = peers_[which];
    if (peer.endpoint.empty()) return which;
    const bool failed = peer.discovered && !peer.known && peer.discovered_at + trial <= now;
    if (failed && (!oldest || peer.discovered_at < peers_[*oldest].discovered_at)) oldest = which;
  }
  if (peers_.size() < wire::max_peers) {
    peers_.emplace_back();
    return peers_.size() - 1;
  }
  if (oldest) remove(*oldest);
  return oldest;
}

void federation::remove(peer_key which) {
  peers_[which] = {};
  world_.remove(which);
}

void federation::forget(peer_key which, time now) {
  auto& peer = peers_[which];
  world_.log(broker_log_level::warning, named(peer) + " was silent too long: its " +
                                            std::to_string(map_.peers().topics_of(which)) + " topic(s) are gone");
  map_.peer_gone(which, now);
  peer.known = false;
  peer.unswept = false;
  peer.position = {};
  peer.lacking.clear();
  peer.asked = {};
  if (peer.state == wire::peer_state::stale) peer.state = wire::peer_state::lost;
}

std::optional<federation::time> federation::next_deadline() const {
  std::optional<time> next;
  const auto consider = [&](time at) {
    if (!next || at < *next) next = at;
  };
  for (const auto& peer : peers_) {
    if (peer.connected) consider(peer.watch == 0 ? peer.next_ask : peer.silent_at);
    if (peer.connected && peer.schemas_after) consider(*peer.schemas_after);
    if (peer.challenge_ends) consider(*peer.challenge_ends);
    if (peer.is_up() && peer.unswept && !peer.reporting) consider(peer.settled_at);
    if (peer.known && peer.state != wire::peer_state::up) consider(*peer.last_word + options_.lease);
    if (peer.discovered && !peer.known) consider(peer.beacon_at + beacon_lease);
  }
  return next;
}

void federation::held_up(time now, duration how_long) {
  for (auto& peer : peers_) {
    if (peer.connected) peer.silent_at = now + ask_again + patience;
    if (peer.last_word) peer.last_word = std::min(now, *peer.last_word + how_long);
  }
}

std::size_t federation::peers_up() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const auto& each) { return each.state == wire::peer_state::up; }));
}

wire::peer_list federation::list(time now) const {
  wire::peer_list all{options_.host_name, static_cast<std::uint32_t>(map_.exports().count()), {}};
  for (peer_key which = 0; which < peers_.size(); ++which) {
    const auto& peer = peers_[which];
    if (peer.endpoint.empty()) continue;
    all.peers.push_back({peer.endpoint, peer.host_name, peer.state,
                         static_cast<std::uint32_t>(map_.peers().topics_of(which)),
                         peer.last_word ? milliseconds(*peer.last_word, now) : 0, peer.reason});
  }
  return all;
}

std::optional<federation::peer_key> federation::twin_of(peer_key which, std::uint64_t epoch) const {
  for (peer_key other = 0; other < peers_.size(); ++other) {
    if (other != which && peers_[other].is_up() && peers_[other].position.epoch == epoch) return other;
  }
  return std::nullopt;
}

// The name of its host, and its endpoint where another host has the same name.
std::string federation::label_of(peer_key which) const {
  const auto& name = peers_[which].host_name;
  bool taken = name == options_.host_name;
  for (peer_key other = 0; other < peers_.size(); ++other) {
    taken = taken || (other != which && peers_[other].host_name == name);
  }
  return taken ? name + " (" + peers_[which].endpoint + ")" : name;
}

std::string federation::named(const peer_broker& which) {
  if (which.host_name.empty()) return "peer broker " + which.endpoint;
  return "peer broker " + which.host_name + " (" + which.endpoint + ")";
}

}  // namespace orc
