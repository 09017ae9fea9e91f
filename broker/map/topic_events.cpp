#include "broker/map/topic_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "broker/map/topic_states.h"

namespace orc {
namespace {

constexpr auto per_move = std::chrono::milliseconds(1'000) / topic_events::moves_per_second;
constexpr auto credit = per_move * (topic_events::moves_at_once - 1);

}  // namespace

void topic_events::prepare(table::row& which) {
  // A queue of its own for a moment, which is the only way to get a node.
  table::event_queue made;
  made.emplace(time{}, &which);
  which.second.idle = made.extract(made.begin());
}

void topic_events::notify(table::row& which, time now) noexcept {
  auto& of = which.second;
  if (of.subscriptions.empty()) return;
  if (!of.idle.empty()) return enqueue(which, now);
  // Those who have the event already get another one after all the others had theirs.
  if (of.pushed_to != 0) of.changed_on_the_way = true;
}

void topic_events::forget(table::row& which) noexcept {
  if (which.second.idle.empty()) dequeue(which);
}

// At once; or, when too many moves preceded this one, when the limit allows it.
void topic_events::enqueue(table::row& which, time now) noexcept {
  auto& of = which.second;
  const time paid = std::max(of.paid_until, now);
  of.paid_until = paid + per_move;
  of.idle.key() = std::max(now, paid - credit);
  of.pushed_to = 0;
  of.changed_on_the_way = false;
  of.queued_at = queue_.insert(std::move(of.idle));
}

void topic_events::dequeue(table::row& which) noexcept { which.second.idle = queue_.extract(which.second.queued_at); }

std::optional<topic_events::event> topic_events::next(time now, std::size_t& budget) {
  while (budget > 0 && !queue_.empty() && queue_.begin()->first <= now) {
    table::row& which = *queue_.begin()->second;
    auto& of = which.second;
    if (of.subscriptions.empty()) {  // released in the meantime
      dequeue(which);
      --budget;
      continue;
    }
    event due{{}, table::state_of(which)};
    due.to.reserve(std::min(budget, of.subscriptions.size()));
    // Goes from one participant to the next, past its other subscriptions.
    auto reader = of.subscriptions.lower_bound({of.pushed_to, 0});
    for (; reader != of.subscriptions.end() && budget > 0; --budget) {
      const auto& to = *reader->second.holder;
      if (to.route) due.to.push_back(*to.route);
      of.pushed_to = to.number + 1;
      reader = of.subscriptions.lower_bound({of.pushed_to, 0});
    }
    if (reader == of.subscriptions.end()) {
      dequeue(which);
      if (of.changed_on_the_way) enqueue(which, now);
    }
    if (!due.to.empty()) return due;
  }
  return std::nullopt;
}

std::optional<topic_events::time> topic_events::next_time() const noexcept {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first;
}

}  // namespace orc
