#include "core/housekeeping/housekeeping.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "base/threads/signals_blocked.h"
#include "base/threads/thread_placement.h"
#include "transport/frame_memory.h"

namespace orc::detail {

namespace {

constexpr int rest_without_memory_ms = 50;

}  // namespace

housekeeping::housekeeping(zmq::context_t& context, const participant_options& options) : session_(context, options) {
  if (bell_->fd() < 0 || calls_->fd() < 0 || !schedule_.is_open()) {
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
    frame_memory::of_process().tidy(now);
    care_.look_at_all();
  }
  next_ = next_tick_;
  take_calls();
  follow_addresses(now);
  care_.attend_due(now);
  talk_to_broker(monotonic::now());  // opening a publication may have taken long
  care_.attend_due(monotonic::now());
  wait();
  return true;
}

// ---- the topics ----

void housekeeping::take_changes() {
  for (; !added_.empty(); added_.pop_front()) care_.take_in(added_.front());
  for (const auto& each : ended_) care_.let_go(each.declared.get());
  if (!ended_.empty()) session_.withdraw(ended_);
}

// Users found that links are lost.
void housekeeping::take_calls() {
  calls_->clear();
  const auto rings = calls_->ticket();
  if (rings == taken_calls_) return;
  care_.look_at_called();
  taken_calls_ = rings;
}

// Runs before the links are watched, because it opens some anew.
void housekeeping::follow_addresses(monotonic::time_point now) {
  addresses_.step(now);
  if (now >= addresses_.due()) {
    care_.network_changed(now);
    session_.follow_addresses(now, care_.topics());
    addresses_.done();
  }
  sooner(addresses_.due());
}

void housekeeping::talk_to_broker(monotonic::time_point now) {
  const bool had_scope = session_.scope().has_value();
  session_.step(now, care_.topics());
  care_.look_at_affected();
  if (!had_scope && session_.scope()) {  // publications can open now, and are then declared
    care_.look_at_all();
    sooner(now);
  }
  sooner(session_.next_step(now, care_.topics()));
}

// ---- waiting ----

// Waits until an event takes a whole turn. Those of a topic do not: with a thousand topics, a whole turn for each would
// be most of the work.
void housekeeping::wait() {
  fds_.clear();
  const auto broker = session_.fds();
  for (const int fd : {bell_->fd(), calls_->fd(), broker[0], broker[1], addresses_.fd()}) {
    if (fd >= 0) fds_.push_back(fd);
  }
  schedule_.watch(own_, fds_);
  auto now = monotonic::now();
  own_.look_at = monotonic::time_point::max();
  schedule_.arm_all(own_, now);
  sooner(own_.look_at);
  if (care_.take_opened()) sooner(now);
  for (bool enough = true; enough && now < next_;) {
    schedule_.wait(next_);
    now = monotonic::now();
    while (const auto event = schedule_.next()) {
      if (event->owner == &own_)
        enough = false;
      else
        care_.serve(*event, now);
    }
    care_.attend_due(now);
    enough = enough && !care_.take_opened() && care_.topics().typed.empty();
  }
}

}  // namespace orc::detail
