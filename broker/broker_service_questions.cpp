// What the broker answers to anyone who asks, without a Hello: lists, states, schemas, and what changed.
#include <algorithm>
#include <utility>

#include "broker_service.h"

namespace orc {
namespace {

constexpr std::size_t watch_steps = 400'000;  // of looking through changes: a millisecond or two

bool has_news(const wire::changes& page) { return page.reset || !page.topics.empty() || !page.participants.empty(); }

}  // namespace

void broker_service::handle(routing from, std::uint64_t request, const wire::list_topics& what, time now) {
  auto page = map_.list(what.after, what.limit, now);
  page.epoch = epoch_;
  page.uptime_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<topic_map::duration>(now - started_).count());
  page.rejected = counters_.rejected;
  reply(from, request, std::move(page));
}

void broker_service::handle(routing from, std::uint64_t request, const wire::describe_topic& what, time now) {
  finish(from, request, map_.describe(what, now));
}

void broker_service::handle(routing from, std::uint64_t request, wire::watch& what, time now) {
  if (what.position.epoch != epoch_) what.position = {};
  const auto wait = std::min(std::chrono::milliseconds(what.wait_ms), watchers::max_wait);
  std::size_t steps = watch_steps;
  auto page = news_for(what, steps);
  if (wait.count() == 0 || page.more || has_news(page)) {
    watchers_.remove(from);
    reply(from, request, std::move(page));
  } else if (auto waits = watchers_.add({from, request, connections_.at(from).client, std::move(what), now + wait});
             !waits) {
    reply(from, request, std::move(waits).error());
  }
}

void broker_service::handle(routing from, std::uint64_t request, const wire::get_schema& what, time) {
  finish(from, request, map_.schema(what));
}

// Advances the watcher's position too, so that the next call looks at later changes only.
wire::changes broker_service::news_for(wire::watch& what, std::size_t& steps) const {
  auto page = map_.changes_since(what, steps);
  page.position.epoch = epoch_;
  what.position = page.position;
  return page;
}

void broker_service::serve_watchers(time now) {
  std::size_t steps = watch_steps;
  while (steps > 0) {
    auto* const next = watchers_.next_behind(map_.newest_change());
    if (next == nullptr) break;
    auto page = news_for(next->what, steps);
    if (has_news(page)) {
      reply(next->from, next->request, std::move(page));
      watchers_.remove(next->from);
    } else if (page.more) {
      watchers_.put_last();  // its patterns are slow: the others do not wait for it
    } else {
      watchers_.pass();
    }
  }
  while (auto* const late = watchers_.next_overdue(now)) {
    reply(late->from, late->request, wire::changes{late->what.position, false, false, {}, {}});
    watchers_.remove(late->from);
  }
}

}  // namespace orc
