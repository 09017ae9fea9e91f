// What the topic map tells others: the states in answers and events.
#include <algorithm>
#include <limits>

#include "topic_map.h"

namespace orc {
namespace {

std::uint32_t milliseconds_between(topic_map::time then, topic_map::time now) {
  const auto elapsed = std::chrono::duration_cast<topic_map::duration>(now - then).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(elapsed, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

wire::topic_state topic_map::state_of(topics::const_iterator at) {
  wire::topic_state state{at->first, {}, {}, static_cast<std::uint32_t>(at->second.subscriptions.size())};
  if (!at->second.publisher) return state;
  const auto& from = *at->second.publisher;
  const auto& who = from.holder->hello;
  state.publication = wire::publication_info{from.id,        who.participant, who.name,     who.host, who.pid,
                                             from.endpoints, from.type,       std::nullopt, 0};
  if (from.type) state.publication->type->schema.clear();
  return state;
}

wire::topic_state topic_map::full_state(topics::const_iterator at, time now) {
  auto state = state_of(at);
  if (const auto& from = at->second.publisher; from && from->counters) {
    state.publication->counters = from->counters;
    state.publication->received_ago_ms = milliseconds_between(from->counted_at, now);
  }
  for (const auto& [id, from] : at->second.subscriptions) {
    const auto& who = from.holder->hello;
    state.subscriptions.push_back({id, who.participant, who.name, who.host, who.pid, from.counters,
                                   from.counters ? milliseconds_between(from.counted_at, now) : 0});
  }
  return state;
}

wire::topic_list topic_map::list(std::string_view after, std::size_t limit, time now) const {
  limit = limit == 0 ? page_limit : std::min(limit, page_limit);
  wire::topic_list page;
  page.participants = static_cast<std::uint32_t>(participants_.size());
  auto at = topics_.upper_bound(after);
  for (; at != topics_.end() && page.topics.size() < limit; ++at) page.topics.push_back(full_state(at, now));
  page.more = at != topics_.end();
  return page;
}

topic_map::requested topic_map::describe(std::string_view name, time now) const {
  const auto at = topics_.find(name);
  if (at == topics_.end()) {
    return wire::error{wire::error_code::unknown_topic,
                       "nobody publishes or requested topic \"" + std::string(name) + "\""};
  }
  auto state = full_state(at, now);
  if (state.publication && state.publication->type) {
    const auto& type = *at->second.publisher->type;
    const auto kept = schemas_.find(type.hash);
    state.publication->type->schema = type.hash == 0 || kept == schemas_.end() ? type.schema : kept->second.bytes;
  }
  return state;
}

}  // namespace orc
