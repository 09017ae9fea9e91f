#include "core/housekeeping/topic_care.h"

#include <new>
#include <optional>
#include <utility>

namespace orc::detail {

void topic_care::take_in(const topic_end& topic) {
  const announcement* const key = &topic.declared();
  const auto [found, is_new] = watched_topics_.try_emplace(key);
  watched_topic& one = found->second;
  try {
    if (is_new) schedule_.add(one);
  } catch (const std::bad_alloc&) {
    watched_topics_.erase(found);
    throw;
  }
  if (!one.sender && !one.receiver) {
    if (topic.sender)
      topics_.add(topic.sender);
    else
      topics_.add(topic.receiver);
    one.sender = topic.sender;
    one.receiver = topic.receiver;
  }
  schedule_.look_soon(one);
}

void topic_care::let_go(const announcement* of) noexcept {
  const auto found = watched_topics_.find(of);
  if (found == watched_topics_.end()) return;
  watched_topic& one = found->second;
  session_.forget(of);
  if (one.sender) topics_.remove(*one.sender);
  if (one.receiver) topics_.remove(*one.receiver);
  schedule_.remove(one);
  watched_topics_.erase(found);
}

void topic_care::look_at_all() noexcept {
  for (auto& [key, each] : watched_topics_) schedule_.look_soon(each);
}

void topic_care::network_changed(monotonic::time_point now) {
  for (const auto& each : topics_.subscriptions)
    for_each_part(*each, [now](subscription& part) { part.network_changed(now); });
  look_at_all();
}

void topic_care::look_at_called() noexcept {
  for (auto& [key, each] : watched_topics_) {
    if (each.receiver && each.receiver->take_call()) schedule_.look_soon(each);
  }
}

void topic_care::look_at_affected() {
  for (subscription* const each : topics_.affected) schedule_.look_soon(watched_topics_.at(&each->announcement()));
  topics_.affected.erase_if([](const subscription*) { return true; });
}

void topic_care::attend_due(monotonic::time_point now) {
  for (watched_topic* const each : schedule_.due(now)) attend(*each, now);
}

bool topic_care::take_opened() noexcept { return std::exchange(opened_, false); }

// Without memory it stays due.
void topic_care::attend(watched_topic& which, monotonic::time_point now) {
  if (which.look_at <= now && which.sender) {
    look_at(which, *which.sender, now);
  } else if (which.look_at <= now) {
    look_at(which, *which.receiver, now);
  } else {
    schedule_.arm_all(which, now);
  }
  schedule_.set_timer(which);
}

void topic_care::look_at(watched_topic& which, publication& p, monotonic::time_point now) {
  auto next = monotonic::time_point::max();
  if (session_.scope() && !p.is_open()) {
    if (now >= p.next_attempt()) open(p, now);
    if (!p.is_open()) next = p.next_attempt();
  }
  p.service();
  fds_.clear();
  p.append_fds(fds_);
  schedule_.watch(which, fds_);
  which.look_at = next;
  topic_schedule::rest(which, p.resume(), now);
  schedule_.arm_all(which, now);
}

void topic_care::look_at(watched_topic& which, subscription& s, monotonic::time_point now) {
  s.step(now);
  if (s.has_type_work()) topics_.typed.insert(&s);
  fds_.clear();
  s.append_fds(fds_);
  const auto absent = s.link_to_drain(now);
  if (absent.fd >= 0) fds_.push_back(absent.fd);
  schedule_.watch(which, fds_);
  which.absent_fd = absent.fd;
  which.look_at = s.next_step(now);
  topic_schedule::rest(which, absent.fd >= 0 ? absent.at : now, now);
  schedule_.arm_all(which, now);
}

// A publication that cannot open now (no permission, no descriptors) may open later.
void topic_care::open(publication& p, monotonic::time_point now) {
  const auto opened = p.open(*session_.scope());
  if (!p.left_out().empty()) session_.log(log_level::warning, p.left_out());
  if (opened) {
    if (p.was_put_off()) p.announcement().reopen();
    opened_ = true;
    return;
  }
  if (p.put_off(opened.error(), now) && opened.code() != errc::closed)
    session_.log(log_level::error, "topic " + p.topic() + " cannot be offered: " + opened.error().message());
  p.announcement().refused(opened.error());
}

void topic_care::serve(const watch_set::event& what, monotonic::time_point now) {
  watched_topic& whose = *what.owner;
  const bool may_rest = whose.sender || what.fd == whose.absent_fd;
  if (may_rest && whose.is_resting()) return;                                  // the timer arms it
  const auto look_at = std::exchange(whose.look_at, monotonic::time_point{});  // without memory all of it is looked at
  schedule_.set_timer(whose);
  std::optional<monotonic::time_point> resume;
  if (whose.sender) {
    whose.sender->service();
    resume = whose.sender->resume();
  } else if (what.fd == whose.absent_fd) {
    resume = whose.receiver->drain(now);
  }
  if (!resume) {
    attend(whose, now);
    return;
  }
  whose.look_at = look_at;
  topic_schedule::rest(whose, *resume, now);
  if (!whose.is_resting()) schedule_.arm(whose, what.fd, now);
  schedule_.set_timer(whose);
}

}  // namespace orc::detail
