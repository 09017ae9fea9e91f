// The topic map as tools and watchers see it.
#include <algorithm>
#include <utility>

#include "broker/map/topic_map.h"
#include "broker/map/topic_states.h"
#include "wire/name_pattern.h"

namespace orc {
namespace {

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

}  // namespace

wire::topic_list topic_map::list(std::string_view after, std::size_t limit, time now) const {
  limit = limit == 0 ? page_limit : std::min(limit, page_limit);
  wire::topic_list page;
  page.participants = static_cast<std::uint32_t>(participant_count());
  std::size_t bytes = 0;
  const auto& topics = table_.topics();
  auto at = topics.upper_bound(after);
  for (; at != topics.end() && page.topics.size() < limit && bytes < wire::max_control_bytes; ++at) {
    page.topics.push_back(table::full_state(*at, {}, listed_subscriptions, now));
    bytes += min_bytes(page.topics.back());
  }
  page.more = at != topics.end();
  return page;
}

wire::changes topic_map::changes_since(const wire::watch& what, std::size_t& steps) const {
  const change_log& changes = table_.changes;
  wire::changes page;
  page.position = what.position;
  auto& [epoch, snapshot, until] = page.position;
  if (until == 0 || until > changes.newest() || std::max(snapshot, until) < changes.complete_after()) {
    page.reset = true;
    snapshot = changes.newest();
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
  change_log::walk at(changes, until);
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
      auto state = change.gone() ? wire::topic_state{name, {}, {}, 0} : table::state_of(*table_.topics().find(name));
      taken += steps_of_a_state * state.publications.size();
      fits = add(page.topics, std::move(state));
    }
    if (!fits) break;
    until = revision;
  }
  page.more = !at.at_end();
  if (!page.more) until = changes.newest();
  steps -= std::min(steps, taken);
  return page;
}

topic_map::requested topic_map::describe(const wire::describe_topic& what, time now) const {
  const auto at = table_.topics().find(what.topic);
  if (at == table_.topics().end()) {
    return wire::error{wire::error_code::unknown_topic,
                       "no participant publishes or requested topic \"" + what.topic + "\""};
  }
  return table::full_state(*at, what.after, described_subscriptions, now);
}

}  // namespace orc
