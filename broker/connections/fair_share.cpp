#include "broker/connections/fair_share.h"

namespace orc {

fair_share::admission fair_share::ask(const std::string& name) const noexcept {
  const auto at = origins_.find(name);
  if (at != origins_.end() && at->second.connections >= limits_.of_one_origin) {
    if (at->second.strangers.empty()) return {};
    return {true, at->second.strangers.front()};
  }
  if (connections_.size() < limits_.total && strangers_ < limits_.of_strangers) return {true, std::nullopt};
  const auto oldest = first_to_go();
  return {oldest.has_value(), oldest};
}

std::optional<fair_share::routing> fair_share::first_to_go() const noexcept {
  const origin* most = nullptr;
  std::uint64_t since = 0;  // of its oldest stranger
  for (const auto& [name, one] : origins_) {
    if (one.strangers.empty() || (most != nullptr && one.strangers.size() < most->strangers.size())) continue;
    const auto oldest = connections_.find(one.strangers.front())->second.stranger_since;
    if (most != nullptr && one.strangers.size() == most->strangers.size() && oldest > since) continue;
    most = &one;
    since = oldest;
  }
  return most == nullptr ? std::nullopt : std::optional(most->strangers.front());
}

void fair_share::add(routing key, const std::string& name) {
  // Does all allocations first. When one fails, nothing has changed, except perhaps for an origin without connections.
  chain role{key};
  chain turn{key};
  const auto [from, is_new] = origins_.try_emplace(name);
  auto& its = from->second;
  try {
    if (is_new) its.turn = resting_.insert(resting_.end(), &its);
    connections_.try_emplace(key, connection{from, role.begin(), turn.begin(), ++last_stranger_});
  } catch (...) {
    if (is_new) {
      if (!resting_.empty() && resting_.back() == &its) resting_.pop_back();
      origins_.erase(from);
    }
    throw;
  }
  its.strangers.splice(its.strangers.end(), role);
  its.resting.splice(its.resting.end(), turn);
  ++its.connections;
  ++strangers_;
}

void fair_share::remove(routing key) noexcept {
  const auto at = connections_.find(key);
  if (at == connections_.end()) return;
  const auto& gone = at->second;
  auto& its = gone.from->second;
  (gone.participant ? its.participants : its.strangers).erase(gone.role);
  (gone.ready ? its.ready(gone.participant) : its.resting).erase(gone.turn);
  if (!gone.participant) --strangers_;
  if (gone.ready && !its.any_ready()) resting_.splice(resting_.end(), waiting_, its.turn);
  if (--its.connections == 0) {
    resting_.erase(its.turn);
    origins_.erase(gone.from);
  }
  connections_.erase(at);
}

void fair_share::settle(routing key, bool participant) noexcept {
  const auto at = connections_.find(key);
  if (at == connections_.end() || at->second.participant == participant) return;
  auto& its = at->second.from->second;
  auto& from = participant ? its.strangers : its.participants;
  auto& to = participant ? its.participants : its.strangers;
  to.splice(to.end(), from, at->second.role);
  if (at->second.ready) {
    auto& ready = its.ready(participant);
    ready.splice(ready.end(), its.ready(!participant), at->second.turn);
  }
  at->second.participant = participant;
  if (!participant) at->second.stranger_since = ++last_stranger_;
  strangers_ += participant ? std::size_t(-1) : std::size_t{1};
}

void fair_share::ready(routing key) noexcept {
  const auto at = connections_.find(key);
  if (at == connections_.end() || at->second.ready) return;
  auto& its = at->second.from->second;
  if (!its.any_ready()) waiting_.splice(waiting_.end(), resting_, its.turn);
  auto& ready = its.ready(at->second.participant);
  ready.splice(ready.end(), its.resting, at->second.turn);
  at->second.ready = true;
}

fair_share::routing fair_share::next() noexcept {
  auto& its = *waiting_.front();
  const bool participant = its.ready_strangers.empty() || (its.participants_next && !its.ready_participants.empty());
  its.participants_next = !participant;
  auto& from = its.ready(participant);
  const routing key = from.front();
  auto& chosen = connections_.find(key)->second;
  its.resting.splice(its.resting.end(), from, chosen.turn);
  chosen.ready = false;
  auto& to = its.any_ready() ? waiting_ : resting_;
  to.splice(to.end(), waiting_, its.turn);
  return key;
}

}  // namespace orc
