#include "simulation/sim_broker.h"

namespace orc::test {

// ---- a session ----

sim_session::sim_session(sim_broker& broker, std::size_t host) : broker_(broker), host_(host) {
  broker_.sessions_.push_back(this);
}

// A program that ends closes its connection. Where that does not arrive, its lease ends.
sim_session::~sim_session() {
  std::erase(broker_.sessions_, this);
  broker_.forget(*this);
}

bool sim_session::reaches_broker() const { return !stopped_ && broker_.reachable_from(host_); }

void sim_session::declare(const sim_topic& topic, std::uint64_t publication) {
  declared_[topic] = publication;
  is_unsaid_ = is_unsaid_ || !reaches_broker();
  if (!up_ || is_unsaid_) return;
  broker_.time().after(broker_.net_.delay(), [this, topic, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    if (const auto at = declared_.find(topic); at != declared_.end() && is_known_)
      broker_.set(topic, *this, at->second);
  });
}

void sim_session::withdraw(const sim_topic& topic) {
  declared_.erase(topic);
  broker_.time().after(broker_.net_.delay(), [this, topic, alive = std::weak_ptr(alive_)] {
    if (!alive.expired() && !declared_.contains(topic) && reaches_broker()) broker_.unset(topic, *this);
  });
}

void sim_session::request(const sim_topic& topic, told with) {
  requests_[topic] = std::move(with);
  is_unsaid_ = is_unsaid_ || !reaches_broker();
  if (up_ && !is_unsaid_) broker_.tell(*this, topic, false);
}

void sim_session::step() {
  const auto now = broker_.time().now();
  const bool reached = reaches_broker();
  if (reached) {
    heard_at_ = now;
    if ((!up_ || !is_known_) && !reconnects_) {
      reconnects_ = true;
      broker_.time().after(broker_.reconnection(), [this, alive = std::weak_ptr(alive_)] {
        if (alive.expired()) return;
        reconnects_ = false;
        if (reaches_broker()) repeat_all();
      });
    }
    if (up_ && is_unsaid_) repeat_all();
    if (up_) {
      for (const auto& topic : std::exchange(late_, {})) broker_.tell(*this, topic, true);
    }
  } else {
    if (was_reached_) lost_at_ = now;
    if (up_ && now - lost_at_ >= sim_broker::gives_up_after) up_ = false;
  }
  was_reached_ = reached;
}

void sim_session::repeat_all() {
  up_ = is_known_ = true;
  is_unsaid_ = false;
  late_.clear();
  // What was withdrawn while there was no broker.
  std::vector<sim_topic> gone;
  for (const auto& [topic, known] : broker_.map_) {
    if (known.by == this && !declared_.contains(topic)) gone.push_back(topic);
  }
  for (const auto& topic : gone) broker_.unset(topic, *this);
  for (const auto& [topic, publication] : declared_) broker_.set(topic, *this, publication);
  for (const auto& [topic, with] : requests_) broker_.tell(*this, topic, false);
}

// ---- the broker ----

sim_broker::sim_broker(sim_network& net, std::size_t host) : net_(net), host_(host) { step(); }

const sim_broker::entry* sim_broker::find(const sim_topic& topic) const {
  const auto at = map_.find(topic);
  return at != map_.end() ? &at->second : nullptr;
}

std::vector<std::pair<sim_topic, std::uint64_t>> sim_broker::all(sim_topic::kind what) const {
  std::vector<std::pair<sim_topic, std::uint64_t>> found;
  for (const auto& [topic, known] : map_) {
    if (topic.what == what) found.emplace_back(topic, known.publication);
  }
  return found;
}

void sim_broker::kill() {
  is_alive_ = false;
  map_.clear();
  for (sim_session* const each : sessions_) each->is_known_ = each->up_ = false;
  for (const auto& each : watches_) each->up = false;
}

void sim_broker::step() {
  time().after(step_every, [this] { step(); });
  const auto sessions = sessions_;
  for (sim_session* const each : sessions) {
    each->step();
    if (is_alive_ && each->is_known_ && time().now() - each->heard_at_ > lease) forget(*each);
  }
  const auto watches = watches_;
  for (const auto& each : watches) step(each);
}

void sim_broker::step(const std::shared_ptr<watch>& each) {
  if (!reaches(*each)) {
    each->is_late = each->is_late || each->stopped;
    if (each->lost_at == scheduler::time{}) each->lost_at = time().now();
    if (time().now() - each->lost_at >= gives_up_after) each->up = false;
    return;
  }
  each->lost_at = {};
  if ((each->up && !each->is_late) || each->reconnects) return;
  each->reconnects = true;
  time().after(reconnection(), [this, of = std::weak_ptr(each)] {
    const auto here = of.lock();
    if (!here) return;
    here->reconnects = false;
    if (!reaches(*here)) return;
    here->up = true;
    here->is_late = false;
    here->complete(all(here->what));
  });
}

void sim_broker::set(const sim_topic& topic, sim_session& by, std::uint64_t publication) {
  const auto at = map_.find(topic);
  if (at != map_.end() && at->second.by == &by && at->second.publication == publication) return;
  if (at != map_.end() && at->second.by != &by) return;  // taken: it asks again with its next session
  map_.insert_or_assign(topic, entry{&by, publication});
  push(topic);
}

void sim_broker::unset(const sim_topic& topic, const sim_session& by) {
  const auto at = map_.find(topic);
  if (at == map_.end() || at->second.by != &by) return;
  map_.erase(at);
  push(topic);
}

void sim_broker::forget(sim_session& gone) {
  gone.is_known_ = false;
  std::vector<sim_topic> topics;
  for (const auto& [topic, known] : map_) {
    if (known.by == &gone) topics.push_back(topic);
  }
  for (const auto& topic : topics) unset(topic, gone);
}

void sim_broker::push(const sim_topic& topic) {
  for (sim_session* const each : sessions_) {
    if (each->is_known_ && each->requests_.contains(topic)) tell(*each, topic, true);
  }
  for (const auto& each : watches_) {
    if (!each->up || each->what != topic.what) continue;
    if (!reaches(*each)) {
      each->is_late = true;
      continue;
    }
    each->told_at = std::max(each->told_at, time().now() + net_.delay());
    time().at(each->told_at, [this, topic, of = std::weak_ptr(each)] {
      const auto here = of.lock();
      const auto* const now = find(topic);
      if (here && here->up && !here->stopped)
        here->changed(topic, now ? std::optional(now->publication) : std::nullopt);
    });
  }
}

void sim_broker::tell(sim_session& to, const sim_topic& topic, bool pushed) {
  if (!to.reaches_broker()) {
    to.late_.insert(topic);
    return;
  }
  const auto* const now = find(topic);
  const auto publication = now ? std::optional(now->publication) : std::nullopt;
  to.told_at_ = std::max(to.told_at_, time().now() + net_.delay());
  time().at(to.told_at_, [&to, topic, publication, pushed, alive = std::weak_ptr(to.alive_)] {
    if (alive.expired()) return;
    if (const auto at = to.requests_.find(topic); at != to.requests_.end()) {
      const auto with = at->second;
      with(publication, pushed);
    }
  });
}

}  // namespace orc::test
