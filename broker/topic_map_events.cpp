// Which participants get an event when a topic moves, or its type does not match, and when.
#include "topic_map.h"

#include <algorithm>
#include <utility>

namespace orc {
namespace {

constexpr auto per_move = std::chrono::milliseconds(1'000) / topic_map::moves_per_second;
constexpr auto credit = per_move * (topic_map::moves_at_once - 1);

// Until when a limit of so many at once, and then as many per second, is used up after one more; nothing: it is
// already.
std::optional<topic_map::time> one_more(topic_map::time paid_until, int at_once, topic_map::time now) noexcept {
  const auto each = topic_map::time::duration(std::chrono::seconds(1)) / at_once;
  const auto paid = std::max(paid_until, now - each * (at_once - 1));
  if (paid > now) return std::nullopt;
  return paid + each;
}

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
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  const auto reports_until = one_more(self->reported_until, reports_at_once, now);
  if (!reports_until) return std::nullopt;
  const auto which = self->subscriptions.find(what.subscription);
  if (which == self->subscriptions.end() || which->second.at->first != what.topic) return std::nullopt;
  topic& of = which->second.at->second;
  const subscription& by = of.subscriptions.at(which->second.shown);
  const auto found = what.publication ? of.publishers.find(what.publication) : of.publishers.begin();
  if (found == of.publishers.end() || !is_live(found->second)) return std::nullopt;
  const publication& about = found->second;
  if (about.type == nullptr || by.type == nullptr || about.type == by.type || !about.holder->route) return std::nullopt;
  const auto told_until = one_more(about.holder->told_until, told_at_once, now);
  if (!told_until) return std::nullopt;
  self->reported_until = *reports_until;
  about.holder->told_until = *told_until;
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
