// Which participants get an event when a topic moves, or its type does not match, and when.
#include "topic_map.h"

#include <algorithm>
#include <utility>

namespace orc {
namespace {

constexpr auto per_move = std::chrono::milliseconds(1'000) / topic_map::moves_per_second;
constexpr auto credit = per_move * (topic_map::moves_at_once - 1);

}  // namespace

void topic_map::notify(topic_table::iterator at, time now) noexcept {
  topic& of = at->second;
  if (of.subscriptions.empty()) return;
  if (!of.idle.empty()) return enqueue(at, now);
  // Those who have the event already get another one after all the others had theirs.
  if (of.pushed_to != 0) of.changed_on_the_way = true;
}

// At once; or, when too many moves preceded this one, when the limit allows it.
void topic_map::enqueue(topic_table::iterator at, time now) noexcept {
  topic& of = at->second;
  const time paid = std::max(of.paid_until, now);
  of.paid_until = paid + per_move;
  of.idle.key() = std::max(now, paid - credit);
  of.pushed_to = 0;
  of.changed_on_the_way = false;
  of.queued_at = events_.insert(std::move(of.idle));
}

void topic_map::dequeue(topic_table::iterator at) noexcept { at->second.idle = events_.extract(at->second.queued_at); }

std::optional<topic_map::event> topic_map::next_event(time now, std::size_t& budget) {
  while (budget > 0 && !events_.empty() && events_.begin()->first <= now) {
    const auto at = topics_.find(*events_.begin()->second);
    topic& of = at->second;
    if (of.subscriptions.empty()) {  // released in the meantime
      dequeue(at);
      --budget;
      continue;
    }
    event due{{}, state_of(at)};
    due.to.reserve(std::min(budget, of.subscriptions.size()));
    // Goes from one participant to the next, past its other subscriptions.
    auto reader = of.subscriptions.lower_bound({of.pushed_to, 0});
    for (; reader != of.subscriptions.end() && budget > 0; --budget) {
      const participant& to = *reader->second.holder;
      if (to.route) due.to.push_back(*to.route);
      of.pushed_to = to.number + 1;
      reader = of.subscriptions.lower_bound({of.pushed_to, 0});
    }
    if (reader == of.subscriptions.end()) {
      dequeue(at);
      if (of.changed_on_the_way) enqueue(at, now);
    }
    if (!due.to.empty()) return due;
  }
  return std::nullopt;
}

topic_map::reported topic_map::report_mismatch(routing from, wire::type_mismatch&& what, time now) {
  const participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto which = self->subscriptions.find(what.subscription);
  if (which == self->subscriptions.end() || which->second.at->first != what.topic) return std::nullopt;
  topic& of = which->second.at->second;
  const subscription& by = of.subscriptions.at(which->second.shown);
  if (live(of) == nullptr) return std::nullopt;
  publication& about = *of.publisher;
  if (about.type == nullptr || by.type == nullptr || about.type == by.type || !about.holder->route) return std::nullopt;
  const time paid = std::max(about.mismatches_paid_until, now - credit);
  if (paid > now) return std::nullopt;
  about.mismatches_paid_until = paid + per_move;
  what.subscription = which->second.shown;
  what.participant_name = self->hello.name;
  what.pid = self->hello.pid;
  return mismatch_news{*about.holder->route, std::move(what)};
}

std::optional<topic_map::time> topic_map::next_event_time() const noexcept {
  if (events_.empty()) return std::nullopt;
  return events_.begin()->first;
}

}  // namespace orc
