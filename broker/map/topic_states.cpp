#include "broker/map/topic_states.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace orc::table {
namespace {

std::uint32_t milliseconds_between(time then, time now) {
  const auto elapsed = std::chrono::duration_cast<duration>(now - then).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(elapsed, 0, std::numeric_limits<std::uint32_t>::max()));
}

std::optional<wire::type_reference> reference_to(const type_store::entry* type) {
  return type == nullptr ? std::nullopt : std::optional(type->reference());
}

// The live publications of a shared topic: those of participants here, then one of each peer broker, then the next one
// of each. A state has room for the first ones.
std::vector<const publication*> shared_in_turns(const topic& of) {
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

// The identity of a host is long, and says nothing to those who are on it.
std::string describe_process(const wire::hello& who, const std::string& asking_host) {
  return (who.name.empty() ? "a participant" : who.name) + " (pid " + std::to_string(who.pid) +
         (who.host == asking_host ? "" : " on host " + who.host) + ")";
}

}  // namespace

wire::topic_state state_of(const row& which) {
  wire::topic_state state{which.first, {}, {}, static_cast<std::uint32_t>(which.second.subscriptions.size())};
  const topic& of = which.second;
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

wire::publication_info info_of(const publication& which) {
  const auto& who = which.holder->hello;
  if (which.from) {
    const origin& there = *which.from;
    return {which.id,
            there.participant,
            there.name,
            there.host,
            there.pid,
            which.endpoints,
            reference_to(which.type),
            std::nullopt,
            0,
            which.keep_last,
            who.host,
            which.holder->stale,
            0,
            there.client,
            there.client_pid};
  }
  return {which.id,
          {which.holder->number, 0},
          who.name,
          who.host,
          who.pid,
          which.endpoints,
          reference_to(which.type),
          std::nullopt,
          0,
          which.keep_last,
          {},
          false,
          0,
          which.holder->by->name,
          which.holder->pid};
}

wire::topic_state full_state(const row& which, const wire::id& after, std::size_t most, time now) {
  auto state = state_of(which);
  const auto add_counters = [&](wire::publication_info& to) {
    const auto& counters = which.second.publishers.at(to.publication).counters;
    if (!counters) return;
    to.counters = counters->counters;
    to.received_ago_ms = milliseconds_between(counters->at, now);
  };
  if (state.publication) add_counters(*state.publication);
  for (auto& each : state.publications) add_counters(each);
  const auto& all = which.second.subscriptions;
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

std::string refusal(const row& which, const publication& by, const std::string& asking_host) {
  std::string who = describe_process(by.holder->hello, asking_host);
  if (by.from)
    who = (by.from->name.empty() ? "a participant" : by.from->name) + " (pid " + std::to_string(by.from->pid) +
          ") on host " + by.holder->hello.host + (by.holder->stale ? ", whose broker does not answer" : "");
  if (!by.shared) return "topic \"" + which.first + "\" is published by " + who;
  return "topic \"" + which.first + "\" is shared: register it with `shared`; " + who + " publishes it";
}

}  // namespace orc::table
