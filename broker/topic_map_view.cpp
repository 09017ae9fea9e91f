// The topic map as others see it: the states in answers and events.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "topic_map.h"
#include "wire/name_pattern.h"

namespace orc {
namespace {

std::uint32_t milliseconds_between(topic_map::time then, topic_map::time now) {
  const auto elapsed = std::chrono::duration_cast<topic_map::duration>(now - then).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(elapsed, 0, std::numeric_limits<std::uint32_t>::max()));
}

// The least size of a state in a frame. Only that many are collected for a page.
std::size_t min_bytes(const wire::topic_state& of) {
  std::size_t bytes = of.topic.size() + 32;
  if (of.publication) bytes += 64 + of.publication->endpoints.size() * 24;
  for (const auto& each : of.publications) bytes += 64 + each.endpoints.size() * 24;
  return bytes + of.subscriptions.size() * 96;
}

// The cost of copying and encoding a state, in steps of matching a name.
constexpr std::size_t steps_of_a_state = 500;

bool is_wanted(const wire::watch& by, const std::string& name, std::size_t& steps) {
  return std::any_of(by.topics.begin(), by.topics.end(),
                     [&](const std::string& pattern) { return wire::matches(pattern, name, steps); });
}

std::optional<wire::type_reference> reference_to(const type_store::entry* type) {
  return type == nullptr ? std::nullopt : std::optional(type->reference());
}

}  // namespace

wire::topic_state topic_map::state_of(topic_table::const_iterator at) {
  wire::topic_state state{at->first, {}, {}, static_cast<std::uint32_t>(at->second.subscriptions.size())};
  const topic& of = at->second;
  const auto* const first = leader(of);
  if (first == nullptr) return state;
  if (!first->shared) {
    state.publication = info_of(*first);
    return state;
  }
  // A participant may have changed its name since it registered, so the room may be less than it was then.
  std::size_t room = wire::room_for_publications;
  for (const auto* const each : shared_in_turns(of)) {
    if (state.publications.size() == wire::max_publishers) break;
    auto info = info_of(*each);
    const std::size_t size = wire::largest_size(info);
    if (size > room) continue;
    room -= size;
    state.publications.push_back(std::move(info));
  }
  std::sort(state.publications.begin(), state.publications.end(),
            [](const auto& one, const auto& other) { return one.publication < other.publication; });
  state.shared = !state.publications.empty();
  return state;
}

std::vector<const topic_map::publication*> topic_map::shared_in_turns(const topic& of) {
  std::vector<std::pair<std::size_t, const publication*>> turns;
  std::map<const participant*, std::size_t> last_turns;  // of peers
  for (const auto& [id, each] : of.publishers) {
    if (is_live(each) && each.shared) turns.emplace_back(each.from ? ++last_turns[each.holder] : 0, &each);
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<const publication*> all;
  for (const auto& [turn, each] : turns) all.push_back(each);
  return all;
}

wire::publication_info topic_map::info_of(const publication& from) {
  const auto& who = from.holder->hello;
  if (from.from) {
    const origin& there = *from.from;
    return {from.id,        there.participant,       there.name,   there.host, there.pid,
            from.endpoints, reference_to(from.type), std::nullopt, 0,          from.keep_last,
            who.host,       from.holder->stale};
  }
  return {from.id,        {from.holder->number, 0}, who.name,     who.host, who.pid,
          from.endpoints, reference_to(from.type),  std::nullopt, 0,        from.keep_last};
}

wire::topic_state topic_map::full_state(topic_table::const_iterator at, const wire::id& after, std::size_t most,
                                        time now) {
  auto state = state_of(at);
  const auto add_counters = [&](wire::publication_info& to) {
    const auto& counters = at->second.publishers.at(to.publication).counters;
    if (!counters) return;
    to.counters = counters->counters;
    to.received_ago_ms = milliseconds_between(counters->at, now);
  };
  if (state.publication) add_counters(*state.publication);
  for (auto& each : state.publications) add_counters(each);
  const auto& all = at->second.subscriptions;
  auto each = all.upper_bound(after);
  for (; each != all.end() && state.subscriptions.size() < most; ++each) {
    const auto& [shown, one] = *each;
    const auto& who = one.holder->hello;
    auto& info = state.subscriptions.emplace_back(wire::subscription_info{
        shown, {one.holder->number, 0}, who.name, who.host, who.pid, {}, 0, one.max_age_ms, reference_to(one.type)});
    if (!one.counters) continue;
    info.counters = one.counters->counters;
    info.received_ago_ms = milliseconds_between(one.counters->at, now);
  }
  state.more = each != all.end();
  return state;
}

wire::topic_list topic_map::list(std::string_view after, std::size_t limit, time now) const {
  limit = limit == 0 ? page_limit : std::min(limit, page_limit);
  wire::topic_list page;
  page.participants = static_cast<std::uint32_t>(participants_.size());
  std::size_t bytes = 0;
  auto at = topics_.upper_bound(after);
  for (; at != topics_.end() && page.topics.size() < limit && bytes < wire::max_control_bytes; ++at) {
    page.topics.push_back(full_state(at, {}, listed_subscriptions, now));
    bytes += min_bytes(page.topics.back());
  }
  page.more = at != topics_.end();
  return page;
}

wire::changes topic_map::changes_since(const wire::watch& what, std::size_t& steps) const {
  wire::changes page;
  page.position = what.position;
  auto& [epoch, snapshot, until] = page.position;
  if (until == 0 || until > changes_.newest() || std::max(snapshot, until) < changes_.complete_after()) {
    page.reset = true;
    snapshot = changes_.newest();
    until = 0;
  }
  std::size_t room = wire::room_for_changes;
  const auto add = [&](auto& to, auto&& state) {
    const auto size = wire::largest_size(state);
    if (size > room || to.size() == page_limit) return false;
    room -= size;
    to.push_back(std::forward<decltype(state)>(state));
    return true;
  };
  std::size_t taken = 0;
  change_log::walk at(changes_, until);
  for (; !at.at_end() && (taken == 0 || taken < steps); at.next()) {
    const auto& [revision, change] = at.here();
    ++taken;
    bool fits = true;
    if (change.gone() && revision <= snapshot) {  // this watcher never knew it
    } else if (change.shown) {
      taken += what.participants ? steps_of_a_state : 0;
      const auto* const who = change.participant;
      if (what.participants && who == nullptr)
        fits = add(page.participants, wire::participant_info{change.shown, true, {}, {}, 0, {}});
      if (what.participants && who != nullptr)
        fits = add(page.participants,
                   wire::participant_info{change.shown, false, who->name, who->host, who->pid, who->library});
    } else if (const auto& name = change.topic == nullptr ? change.name : *change.topic; is_wanted(what, name, taken)) {
      taken += steps_of_a_state;
      auto state = change.gone() ? wire::topic_state{name, {}, {}, 0} : state_of(topics_.find(name));
      taken += steps_of_a_state * state.publications.size();
      fits = add(page.topics, std::move(state));
    }
    if (!fits) break;
    until = revision;
  }
  page.more = !at.at_end();
  if (!page.more) until = changes_.newest();
  steps -= std::min(steps, taken);
  return page;
}

topic_map::requested topic_map::describe(const wire::describe_topic& what, time now) const {
  const auto at = topics_.find(what.topic);
  if (at == topics_.end()) {
    return wire::error{wire::error_code::unknown_topic,
                       "no participant publishes or requested topic \"" + what.topic + "\""};
  }
  return full_state(at, what.after, described_subscriptions, now);
}

}  // namespace orc
