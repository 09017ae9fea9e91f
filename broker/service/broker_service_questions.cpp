// What the broker answers to anyone who asks, without a Hello: lists, states, schemas, and what changed.
#include <algorithm>
#include <utility>

#include "broker/service/broker_service.h"

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
  auto& all = what.own ? peer_watchers_ : watchers_;
  auto page = news_for(from, what, steps, now);
  if (wait.count() == 0 || page.more || has_news(page)) {
    all.remove(from);
    reply(from, request, std::move(page));
  } else if (auto waits = all.add({from, request, connections_.at(from).client, std::move(what), now + wait}); !waits) {
    reply(from, request, std::move(waits).error());
  }
}

void broker_service::handle(routing from, std::uint64_t request, const wire::get_schema& what, time) {
  finish(from, request, map_.schema(what));
}

// Advances the watcher's position too, so that the next call looks at later changes only.
wire::changes broker_service::news_for(routing who, wire::watch& what, std::size_t& steps, time now) {
  auto page = what.own ? map_.exports().since(what, is_on_this_host(connections_.at(who).who, now), steps, now)
                       : map_.changes_since(what, steps);
  if (what.own) page.host_name = options_.host_name;
  page.position.epoch = epoch_;
  what.position = page.position;
  return page;
}

void broker_service::serve_watchers(watchers& all, change_log::revision newest, time now) {
  std::size_t steps = watch_steps;
  while (steps > 0) {
    auto* const next = all.next_behind(newest);
    if (next == nullptr) break;
    auto page = news_for(next->from, next->what, steps, now);
    if (has_news(page)) {
      reply(next->from, next->request, std::move(page));
      all.remove(next->from);
    } else if (page.more) {
      all.put_last();  // its patterns are slow: the others do not wait for it
    } else {
      all.pass();
    }
  }
  while (auto* const late = all.next_overdue(now)) {
    wire::changes none{late->what.position, false, false, {}, {}};
    if (late->what.own) none.host_name = options_.host_name;
    reply(late->from, late->request, std::move(none));
    all.remove(late->from);
  }
}

bool broker_service::is_on_this_host(const peer& who, time now) {
  if (who.way == peer::via::ipc) return true;
  const auto address = detail::ip_address::parse(who.address);
  return address && rules_.is_of_this_host(*address, now);
}

// ---- peer brokers ----

void broker_service::handle(routing from, std::uint64_t request, const wire::list_peers&, time now) {
  reply(from, request, federation_.list(now));
}

void broker_service::peer_connected(peer_reports::peer_key which, bool same_host, time now) {
  federation_.connected(which, same_host, now);
}

void broker_service::peer_lost(peer_reports::peer_key which, std::string_view why, time now) {
  federation_.lost(which, why, now);
}

void broker_service::receive_from_peer(peer_reports::peer_key which, std::span<const std::byte> frame, time now) {
  federation_.receive(which, frame, now);
  work(now);
}

void broker_service::peer_discovered(const std::string& endpoint, std::uint64_t epoch, time now) {
  federation_.discovered(endpoint, epoch, now);
}

bool broker_service::send(peer_reports::peer_key to, const std::string& frame) {
  return options_.send_to_peer && options_.send_to_peer(to, frame);
}

void broker_service::close(peer_reports::peer_key which, topic_map::duration pause) {
  if (options_.close_peer) options_.close_peer(which, pause);
}

void broker_service::add(peer_reports::peer_key which, const std::string& endpoint) {
  if (options_.add_peer) options_.add_peer(which, endpoint);
}

void broker_service::remove(peer_reports::peer_key which) {
  if (options_.remove_peer) options_.remove_peer(which);
}

// It registers everything again, and is told then who has the name.
void broker_service::displaced(const peer_reports::displaced& which) {
  const auto route = map_.route_of(which.participant);
  if (!route) return;
  const auto at = connections_.find(*route);
  if (at == connections_.end()) return;
  at->second.out_of_date = true;
  at->second.displaced = which.text;
}

}  // namespace orc
