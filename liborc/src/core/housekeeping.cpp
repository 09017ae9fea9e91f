#include "core/housekeeping.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/signals_blocked.h"
#include "base/thread_placement.h"

namespace orc::detail {

namespace {

constexpr int rest_without_memory_ms = 50;
constexpr auto unwatched_interval = std::chrono::milliseconds(100);

}  // namespace

housekeeping::housekeeping(zmq::context_t& context, const participant_options& options) : session_(context, options) {
  if (bell_->fd() < 0 || calls_->fd() < 0 || !watch_set_.is_open()) {
    started_ = {errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)"};
    return;
  }
  try {
    std::unique_lock lock(mutex_);  // it does nothing before it is placed; libzmq's threads inherit that
    const signals_blocked blocked;
    thread_ = std::thread(&housekeeping::run, this);
    pthread_setname_np(thread_.native_handle(), "orc");
    started_ = place_thread(thread_.native_handle(), options.housekeeping_priority, options.housekeeping_cpus,
                            "housekeeping_priority", "housekeeping_cpus");
    if (started_) return;
    stop_ = true;
    lock.unlock();
    thread_.join();
  } catch (const std::system_error& e) {
    started_ = {errc::system_error, std::string("cannot start a thread: ") + e.what()};
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
}

housekeeping::~housekeeping() { end(); }

void housekeeping::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  bell_->ring();
  if (thread_.joinable()) thread_.join();
}

void housekeeping::add(std::shared_ptr<publication> p) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({.sender = std::move(p), .receiver = {}});
  }
  bell_->ring();
}

void housekeeping::add(std::shared_ptr<subscription> s) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({.sender = {}, .receiver = std::move(s)});
  }
  bell_->ring();
}

std::shared_ptr<const announcement> housekeeping::remove(const std::shared_ptr<publication>& p) {
  auto told = std::make_shared<announcement>();
  {
    const std::lock_guard lock(mutex_);
    ended_.push_back({wire::unregister_topic{p->topic(), p->id()}, {p, &p->announcement()}, told});
  }
  bell_->ring();
  return told;
}

void housekeeping::remove(const std::shared_ptr<subscription>& s) {
  {
    const std::lock_guard lock(mutex_);
    ended_.push_back({s->release(), {s, &s->announcement()}, std::make_shared<announcement>()});
  }
  bell_->ring();
}

void housekeeping::run() {
  for (;;) {
    try {
      if (!turn()) break;
    } catch (const std::bad_alloc&) {
      wait_for_memory();
    }
  }
  try {
    session_.leave();
  } catch (const std::bad_alloc&) {  // the lease ends the session
  }
}

// Waits a little when memory ran out; the work is done later.
void housekeeping::wait_for_memory() {
  pollfd bell{bell_->fd(), POLLIN, 0};
  (void)::poll(&bell, 1, rest_without_memory_ms);
}

bool housekeeping::turn() {
  bell_->clear();
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return false;
    take_changes();
  }
  const auto now = monotonic::now();
  if (now >= next_tick_) {
    next_tick_ = now + tick;
    addresses_.tick(now);
    look_at_all();
  }
  next_ = next_tick_;
  take_calls();
  follow_addresses(now);
  attend_due(now);
  talk_to_broker(monotonic::now());  // opening a publication may have taken long
  attend_due(monotonic::now());
  wait();
  return true;
}

// ---- the topics ----

void housekeeping::take_changes() {
  for (; !added_.empty(); added_.pop_front()) take_in(added_.front());
  for (const auto& each : ended_) let_go(each.declared.get());
  if (!ended_.empty()) session_.withdraw(ended_);
}

// May have begun already, when memory ran out.
void housekeeping::take_in(const topic_end& topic) {
  const announcement* const key = &topic.declared();
  const auto [found, is_new] = watched_topics_.try_emplace(key);
  watched_topic& one = found->second;
  try {
    if (is_new) one.timer = timers_.emplace(monotonic::time_point{}, &one);
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
  look_soon(one);
}

void housekeeping::let_go(const announcement* of) noexcept {
  const auto found = watched_topics_.find(of);
  if (found == watched_topics_.end()) return;
  watched_topic& one = found->second;
  session_.forget(of);
  if (one.sender) topics_.remove(*one.sender);
  if (one.receiver) topics_.remove(*one.receiver);
  for (const int fd : one.watched) watch_set_.drop(fd, &one);
  timers_.erase(one.timer);
  watched_topics_.erase(found);
}

// Users found that links are lost.
void housekeeping::take_calls() {
  calls_->clear();
  const auto rings = calls_->ticket();
  if (rings == taken_calls_) return;
  for (auto& [key, each] : watched_topics_) {
    if (each.receiver && each.receiver->take_call()) look_soon(each);
  }
  taken_calls_ = rings;
}

// Runs before the links are watched, because it opens some anew.
void housekeeping::follow_addresses(monotonic::time_point now) {
  addresses_.step(now);
  if (now >= addresses_.due()) {
    look_at_all();
    session_.follow_addresses(now, topics_);
    addresses_.done();
  }
  sooner(addresses_.due());
}

void housekeeping::talk_to_broker(monotonic::time_point now) {
  const bool had_scope = session_.scope().has_value();
  session_.step(now, topics_);
  for (subscription* const each : topics_.affected) look_soon(watched_topics_.at(&each->announcement()));
  topics_.affected.erase_if([](const subscription*) { return true; });
  if (!had_scope && session_.scope()) {  // publications can open now, and are then declared
    look_at_all();
    sooner(now);
  }
  sooner(session_.next_step(now, topics_));
}

// ---- looking at a topic ----

void housekeeping::look_soon(watched_topic& which) noexcept {
  which.look_at = {};
  set_timer(which);
}

void housekeeping::look_at_all() noexcept {
  for (auto& [key, each] : watched_topics_) look_soon(each);
}

void housekeeping::set_timer(watched_topic& which) noexcept {
  const auto at = std::min(which.look_at, which.resume_at);
  if (which.timer->first == at) return;
  auto node = timers_.extract(which.timer);
  node.key() = at;
  which.timer = timers_.insert(std::move(node));
}

// Each of them once: some are due again at once.
void housekeeping::attend_due(monotonic::time_point now) {
  due_.clear();
  for (auto each = timers_.begin(); each != timers_.end() && each->first <= now; ++each) due_.push_back(each->second);
  for (watched_topic* const each : due_) attend(*each, now);
}

// Without memory it stays due.
void housekeeping::attend(watched_topic& which, monotonic::time_point now) {
  if (which.look_at <= now && which.sender) {
    look_at(which, *which.sender, now);
  } else if (which.look_at <= now) {
    look_at(which, *which.receiver, now);
  } else {
    arm_all(which, now);
  }
  set_timer(which);
}

void housekeeping::look_at(watched_topic& which, publication& p, monotonic::time_point now) {
  auto next = monotonic::time_point::max();
  if (session_.scope() && !p.is_open()) {
    if (now >= p.next_attempt()) open(p, now);
    if (!p.is_open()) next = p.next_attempt();
  }
  p.service();
  fds_.clear();
  p.append_fds(fds_);
  watch(which);
  which.look_at = next;
  rest(which, p.resume(), now);
  arm_all(which, now);
}

void housekeeping::look_at(watched_topic& which, subscription& s, monotonic::time_point now) {
  s.step(now);
  if (s.has_type_work()) topics_.typed.insert(&s);
  fds_.clear();
  s.append_fds(fds_);
  const auto absent = s.link_to_drain(now);
  if (absent.fd >= 0) fds_.push_back(absent.fd);
  watch(which);
  which.absent_fd = absent.fd;
  which.look_at = s.next_step(now);
  rest(which, absent.fd >= 0 ? absent.at : now, now);
  arm_all(which, now);
}

// A publication that cannot open now (no permission, no descriptors) may open later.
void housekeeping::open(publication& p, monotonic::time_point now) {
  const auto opened = p.open(*session_.scope());
  if (!p.left_out().empty()) session_.log(log_level::warning, p.left_out());
  if (opened) {
    if (p.was_put_off()) p.announcement().reopen();
    return sooner(now);  // it can be declared
  }
  if (p.put_off(opened.error(), now) && opened.code() != errc::closed)
    session_.log(log_level::error, "topic " + p.topic() + " cannot be offered: " + opened.error().message());
  p.announcement().refused(opened.error());
}

// ---- waiting ----

// Sets the descriptors of the topic: those in fds_.
void housekeeping::watch(watched_topic& which) {
  for (const int old : which.watched) {
    if (std::find(fds_.begin(), fds_.end(), old) == fds_.end()) watch_set_.drop(old, &which);
  }
  which.watched = fds_;
}

// All links of a publication rest together, because one lock serves them all. Of a subscription only the link of an
// absent user does.
void housekeeping::rest(watched_topic& which, monotonic::time_point until, monotonic::time_point now) noexcept {
  which.resume_at = until > now ? until : monotonic::time_point::max();
}

void housekeeping::arm_all(watched_topic& which, monotonic::time_point now) {
  rest(which, which.is_resting() ? which.resume_at : now, now);
  for (const int fd : which.watched) {
    if (!which.is_resting() || (which.receiver && fd != which.absent_fd)) arm(which, fd, now);
  }
}

void housekeeping::arm(watched_topic& which, int fd, monotonic::time_point now) {
  if (!watch_set_.arm(fd, &which)) which.look_at = std::min(which.look_at, now + unwatched_interval);
}

// Waits until an event takes a whole turn. Those of a topic do not: with a thousand topics, a whole turn for each would
// be most of the work.
void housekeeping::wait() {
  fds_.clear();
  for (const int fd : {bell_->fd(), calls_->fd(), session_.fd(), addresses_.fd()}) {
    if (fd >= 0) fds_.push_back(fd);
  }
  watch(own_);
  auto now = monotonic::now();
  own_.look_at = monotonic::time_point::max();
  arm_all(own_, now);
  sooner(own_.look_at);
  for (bool enough = true; enough && now < next_;) {
    watch_set_.wait(timers_.empty() ? next_ : std::min(next_, timers_.begin()->first));
    now = monotonic::now();
    while (const auto event = watch_set_.next()) enough = serve(*event, now) && enough;
    attend_due(now);
    enough = enough && topics_.typed.empty();
  }
}

// False: it takes a whole turn.
bool housekeeping::serve(const watch_set::event& what, monotonic::time_point now) {
  watched_topic& whose = *what.owner;
  if (&whose == &own_) return false;
  const bool may_rest = whose.sender || what.fd == whose.absent_fd;
  if (may_rest && whose.is_resting()) return true;                             // the timer arms it
  const auto look_at = std::exchange(whose.look_at, monotonic::time_point{});  // without memory all of it is looked at
  set_timer(whose);
  std::optional<monotonic::time_point> resume;
  if (whose.sender) {
    whose.sender->service();
    resume = whose.sender->resume();
  } else if (what.fd == whose.absent_fd) {
    resume = whose.receiver->drain(now);
  }
  if (!resume) {
    attend(whose, now);
    return true;
  }
  whose.look_at = look_at;
  rest(whose, *resume, now);
  if (!whose.is_resting()) arm(whose, what.fd, now);
  set_timer(whose);
  return true;
}

}  // namespace orc::detail
