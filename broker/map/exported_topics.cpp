#include "broker/map/exported_topics.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "broker/map/endpoint_rules.h"
#include "broker/map/topic_states.h"
#include "wire/name_pattern.h"

namespace orc {
namespace {

constexpr std::size_t steps_of_an_export = 500;  // as of a state
constexpr std::size_t max_page = 512;            // topics

wire::topic_state exported_state(const table::row& which, bool same_host, table::time now) {
  wire::topic_state state{which.first, {}, {}, 0};
  const auto& of = which.second;
  const auto* const first = table::leader(of);
  // As in state_of(): a participant may have a longer name than when it registered.
  std::size_t room = wire::room_for_publications;
  for (const auto& [id, each] : of.publishers) {
    if (each.from || !table::is_live(each) || !table::is_shown(each, first)) continue;
    auto info = table::info_of(each);
    std::erase_if(info.endpoints, [&](const auto& one) { return !is_reachable(one, same_host); });
    if (info.endpoints.empty()) continue;
    info.age_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<table::duration>(now - each.since).count());
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
  std::vector<const table::participant*> peers;
  for (const auto& [id, each] : of.publishers) {
    const bool loses = each.from && table::is_live(each) && each.holder->decided_here && !table::is_shown(each, first);
    if (!loses || std::find(peers.begin(), peers.end(), each.holder) != peers.end()) continue;
    if (peers.size() == wire::max_displaced) break;
    peers.push_back(each.holder);
    state.displaced.push_back(id);
  }
  return state;
}

}  // namespace

void exported_topics::begin(table::row& which) {
  if (which.second.exported) return;
  which.second.exported = changes_.add({.topic = &which.first, .name = which.first});
  ++count_;
}

void exported_topics::changed(table::topic& which) noexcept {
  if (which.exported) changes_.changed(*which.exported);
}

void exported_topics::end(table::topic& which) noexcept {
  if (!which.exported) return;
  const auto handle = *std::exchange(which.exported, std::nullopt);
  --count_;
  std::string name = std::move(handle->second.name);
  changes_.gone(handle, std::move(name));
}

void exported_topics::end_unless_published(table::topic& which) noexcept {
  const auto& all = which.publishers;
  if (std::all_of(all.begin(), all.end(), [](const auto& each) { return each.second.from != nullptr; })) end(which);
}

wire::changes exported_topics::since(const wire::watch& what, bool same_host, std::size_t& steps,
                                     table::time now) const {
  wire::changes page;
  page.position = what.position;
  auto& [epoch, snapshot, until] = page.position;
  if (until == 0 || until > changes_.newest() || std::max(snapshot, until) < changes_.complete_after()) {
    page.reset = true;
    snapshot = changes_.newest();
    until = 0;
  }
  std::size_t room = wire::room_for_changes;
  std::size_t taken = 0;
  change_log::walk at(changes_, until);
  for (; !at.at_end() && (taken == 0 || taken < steps); at.next()) {
    const auto& here = at.here();
    const auto revision = here.first;
    const auto& change = here.second;
    taken += steps_of_an_export;
    const bool wanted = std::any_of(what.topics.begin(), what.topics.end(), [&](const std::string& pattern) {
      return wire::matches(pattern, change.name, taken);
    });
    auto state = change.gone() ? wire::topic_state{change.name, {}, {}, 0}
                               : exported_state(*all_.find(change.name), same_host, now);
    taken += steps_of_an_export * state.publications.size();
    const bool published = state.publication || !state.publications.empty();
    if (wanted && (published || revision > snapshot)) {  // of the others, this peer never knew
      const auto size = wire::largest_size(state);
      if (size <= wire::room_for_changes) {  // else no page has room for it
        if (size > room || page.topics.size() == max_page) break;
        room -= size;
        page.topics.push_back(std::move(state));
      }
    }
    until = revision;
  }
  page.more = !at.at_end();
  if (!page.more) until = changes_.newest();
  steps -= std::min(steps, taken);
  return page;
}

}  // namespace orc
