// What peer brokers may see: the topics of this broker's participants, and which publications of peers lost a name.
#include <algorithm>
#include <utility>
#include <vector>

#include "endpoint_rules.h"
#include "topic_map.h"
#include "wire/name_pattern.h"

namespace orc {
namespace {

constexpr std::size_t steps_of_an_export = 500;  // as of a state

}  // namespace

void topic_map::end_export(topic_table::iterator at) noexcept {
  if (!at->second.exported) return;
  const auto which = *std::exchange(at->second.exported, std::nullopt);
  --exported_;
  std::string name = std::move(which->second.name);
  exports_.gone(which, std::move(name));
}

wire::topic_state topic_map::exported_state(topic_table::const_iterator at, bool same_host, time now) {
  wire::topic_state state{at->first, {}, {}, 0};
  const topic& of = at->second;
  const auto* const first = leader(of);
  // As in state_of(): a participant may have a longer name than when it registered.
  std::size_t room = wire::room_for_publications;
  for (const auto& [id, each] : of.publishers) {
    if (each.from || !is_live(each) || !is_shown(each, first)) continue;
    auto info = info_of(each);
    std::erase_if(info.endpoints, [&](const auto& one) { return !is_reachable(one, same_host); });
    if (info.endpoints.empty()) continue;
    info.age_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<duration>(now - each.since).count());
    if (!each.shared) {
      state.publication = std::move(info);
      break;
    }
    const std::size_t size = wire::largest_size(info);
    if (size > room || state.publications.size() == wire::max_publishers) continue;
    room -= size;
    state.shared = true;
    state.publications.push_back(std::move(info));
  }
  if (!state.publication && state.publications.empty()) return state;
  // The first one of each peer, so that no peer takes the places of the others.
  std::vector<const participant*> peers;
  for (const auto& [id, each] : of.publishers) {
    const bool loses = each.from && is_live(each) && each.holder->decided_here && !is_shown(each, first);
    if (!loses || std::find(peers.begin(), peers.end(), each.holder) != peers.end()) continue;
    if (peers.size() == wire::max_displaced) break;
    peers.push_back(each.holder);
    state.displaced.push_back(id);
  }
  return state;
}

wire::changes topic_map::exports_since(const wire::watch& what, bool same_host, std::size_t& steps, time now) const {
  wire::changes page;
  page.position = what.position;
  auto& [epoch, snapshot, until] = page.position;
  if (until == 0 || until > exports_.newest() || std::max(snapshot, until) < exports_.complete_after()) {
    page.reset = true;
    snapshot = exports_.newest();
    until = 0;
  }
  std::size_t room = wire::room_for_changes;
  std::size_t taken = 0;
  change_log::walk at(exports_, until);
  for (; !at.at_end() && (taken == 0 || taken < steps); at.next()) {
    const auto& here = at.here();
    const auto revision = here.first;
    const auto& change = here.second;
    taken += steps_of_an_export;
    const bool wanted = std::any_of(what.topics.begin(), what.topics.end(), [&](const std::string& pattern) {
      return wire::matches(pattern, change.name, taken);
    });
    auto state = change.gone() ? wire::topic_state{change.name, {}, {}, 0}
                               : exported_state(topics_.find(change.name), same_host, now);
    taken += steps_of_an_export * state.publications.size();
    const bool published = state.publication || !state.publications.empty();
    if (wanted && (published || revision > snapshot)) {  // of the others, this peer never knew
      const auto size = wire::largest_size(state);
      if (size <= wire::room_for_changes) {  // else no page has room for it
        if (size > room || page.topics.size() == page_limit) break;
        room -= size;
        page.topics.push_back(std::move(state));
      }
    }
    until = revision;
  }
  page.more = !at.at_end();
  if (!page.more) until = exports_.newest();
  steps -= std::min(steps, taken);
  return page;
}

}  // namespace orc
