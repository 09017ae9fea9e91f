#include "core/housekeeping.h"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "base/signals_blocked.h"
#include "base/thread_placement.h"

namespace orc::detail {

namespace {

constexpr int rest_without_memory_ms = 50;

}  // namespace

housekeeping::housekeeping(zmq::context_t& context, const participant_options& options) : session_(context, options) {
  if (bell_->fd() < 0) {
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
  }
}

housekeeping::~housekeeping() {
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
    wanted_.publications.push_back(std::move(p));
    changed_ = true;
  }
  bell_->ring();
}

void housekeeping::add(std::shared_ptr<subscription> s) {
  {
    const std::lock_guard lock(mutex_);
    wanted_.subscriptions.push_back(std::move(s));
    changed_ = true;
  }
  bell_->ring();
}

std::shared_ptr<const announcement> housekeeping::remove(const std::shared_ptr<publication>& p) {
  auto told = std::make_shared<announcement>();
  {
    const std::lock_guard lock(mutex_);
    ended_.push_back({wire::unregister_topic{p->topic(), p->id()}, {p, &p->announcement()}, told});
    std::erase(wanted_.publications, p);
    changed_ = true;
  }
  bell_->ring();
  return told;
}

void housekeeping::remove(const std::shared_ptr<subscription>& s) {
  {
    const std::lock_guard lock(mutex_);
    ended_.push_back({s->release(), {s, &s->announcement()}, std::make_shared<announcement>()});
    std::erase(wanted_.subscriptions, s);
    changed_ = true;
  }
  bell_->ring();
}

void housekeeping::run() {
  for (;;) {
    try {
      if (!turn()) break;
    } catch (const std::bad_alloc&) {
      rest();
    }
  }
  try {
    session_.leave();
  } catch (const std::bad_alloc&) {  // the lease ends the session
  }
}

// Waits a little when memory ran out; the work is done later.
void housekeeping::rest() {
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
  auto now = monotonic::now();
  const bool look_at_all = now >= next_tick_;
  if (look_at_all) next_tick_ = now + tick;
  if (look_at_all) addresses_.tick(now);
  next_ = next_tick_;
  polled_.clear();
  watches_.clear();
  add_watch(bell_->fd(), {});
  follow_addresses(now);
  for (const auto& each : topics_.publications) {
    look_after(*each, now);
    if (look_at_all) each->service();
  }
  now = monotonic::now();  // opening a publication may have taken long
  const bool had_scope = session_.scope().has_value();
  session_.step(now, topics_);
  sooner(session_.next_step(now, topics_));
  if (!had_scope && session_.scope()) sooner(now);  // publications can open now
  add_watch(session_.fd(), {});
  fds_.clear();
  for (const auto& each : topics_.subscriptions) {
    each->step(now);
    each->append_fds(fds_);
    const auto absent = each->link_to_drain(now);
    add_watch(absent.fd, {.sender = nullptr, .receiver = each.get(), .resume = absent.at});
    sooner(each->next_step(now));
  }
  for (const int fd : fds_) add_watch(fd, {});
  wait();
  return true;
}

void housekeeping::take_changes() {
  if (!changed_) return;
  topics_ = wanted_;
  session_.withdraw(ended_);
  changed_ = false;
}

// Runs before the links are polled, because it opens some anew.
void housekeeping::follow_addresses(monotonic::time_point now) {
  addresses_.step(now);
  if (now >= addresses_.due()) {
    session_.follow_addresses(now, topics_);
    addresses_.done();
  }
  sooner(addresses_.due());
  add_watch(addresses_.fd(), {});
}

void housekeeping::look_after(publication& p, monotonic::time_point now) {
  if (!session_.scope()) return;
  if (!p.is_open()) open(p, now);
  fds_.clear();
  p.append_fds(fds_);
  for (const int fd : fds_) add_watch(fd, {.sender = &p, .receiver = nullptr, .resume = p.resume()});
}

// A publication that cannot open now (no permission, no descriptors) may open later.
void housekeeping::open(publication& p, monotonic::time_point now) {
  if (now < p.next_attempt()) return sooner(p.next_attempt());
  const auto opened = p.open(*session_.scope());
  if (!p.left_out().empty()) session_.log(log_level::warning, p.left_out());
  if (opened) {
    if (p.was_put_off()) p.announcement().reopen();
    return;
  }
  if (p.put_off(opened.error(), now) && opened.code() != errc::closed)
    session_.log(log_level::error, "topic " + p.topic() + " cannot be offered: " + opened.error().message());
  p.announcement().refused(opened.error());
  sooner(p.next_attempt());
}

void housekeeping::add_watch(int fd, watch whom) {
  if (fd < 0) return;
  polled_.push_back({whom.resume != monotonic::time_point{} ? ~fd : fd, POLLIN, 0});
  watches_.push_back(whom);
}

// Waits until an event takes a whole turn. Readers that join or lag, and samples for an absent user, do not: with a
// thousand topics, a whole turn for each would be most of the work.
void housekeeping::wait() {
  monotonic::time_point now = monotonic::now();
  do {
    const auto until = std::min(next_, resume_watches(now));
    const auto rest = std::chrono::nanoseconds(std::max(until - now, monotonic::duration::zero())).count();
    const timespec limit{static_cast<time_t>(rest / 1'000'000'000), static_cast<long>(rest % 1'000'000'000)};
    if (ppoll(polled_.data(), polled_.size(), &limit, nullptr) < 0) return;
    now = monotonic::now();
  } while (serve(now) && now < next_);
}

// poll ignores a negative descriptor. Returns when the next one is due.
monotonic::time_point housekeeping::resume_watches(monotonic::time_point now) {
  auto next = monotonic::time_point::max();
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (polled_[i].fd >= 0) continue;
    if (watches_[i].resume <= now)
      polled_[i].fd = ~polled_[i].fd;
    else
      next = std::min(next, watches_[i].resume);
  }
  return next;
}

// False: an event takes a whole turn.
bool housekeeping::serve(monotonic::time_point now) {
  bool enough = true;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (polled_[i].revents == 0 || polled_[i].fd < 0) continue;
    watch& whom = watches_[i];
    if (whom.sender != nullptr) {
      serve(*whom.sender);
    } else if (whom.receiver == nullptr) {
      enough = false;
    } else if (const auto resume = whom.receiver->drain(now)) {
      whom.resume = *resume;
      if (*resume > now) polled_[i].fd = ~polled_[i].fd;
    } else {
      enough = false;
    }
  }
  return enough;
}

// All links of a publication rest together, because one lock serves them all.
void housekeeping::serve(publication& p) {
  p.service();
  if (p.resume() == monotonic::time_point{}) return;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (watches_[i].sender != &p) continue;
    watches_[i].resume = p.resume();
    if (polled_[i].fd >= 0) polled_[i].fd = ~polled_[i].fd;
  }
}

}  // namespace orc::detail
