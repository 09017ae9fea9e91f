#include "core/housekeeping.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <system_error>

namespace orc::detail {

namespace {

// Signals are for the program's own threads.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

housekeeping::housekeeping(void* context, const participant_options& options) : session_(context, options) {
  if (bell_->fd() < 0) {
    started_ = {errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)"};
    return;
  }
  try {
    const signals_blocked blocked;
    thread_ = std::thread(&housekeeping::run, this);
    pthread_setname_np(thread_.native_handle(), "orc");
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
    std::erase(wanted_.publications, p);
    ended_.push_back({wire::unregister_topic{p->topic(), p->id()}, told});
    changed_ = true;
  }
  bell_->ring();
  return told;
}

void housekeeping::remove(const std::shared_ptr<subscription>& s) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(wanted_.subscriptions, s);
    ended_.push_back({s->release(), std::make_shared<announcement>()});
    changed_ = true;
  }
  bell_->ring();
}

void housekeeping::run() {
  for (;;) {
    bell_->clear();
    {
      const std::lock_guard lock(mutex_);
      if (stop_) break;
      take_changes();
    }
    const auto now = monotonic::now();
    const bool look_at_all = now >= next_tick_;
    if (look_at_all) next_tick_ = now + tick;
    next_ = next_tick_;
    polled_.clear();
    watches_.clear();
    add_watch(bell_->fd(), {});
    for (const auto& each : topics_.publications) {
      look_after(*each);
      if (look_at_all) each->service();
    }
    const bool had_place = session_.place().has_value();
    session_.step(now, topics_);
    sooner(session_.next_step(now, topics_));
    if (!had_place && session_.place()) sooner(now);  // publications can be opened now
    add_watch(session_.fd(), {});
    fds_.clear();
    for (const auto& each : topics_.subscriptions) {
      each->step(now);
      each->append_fds(fds_);
      const auto absent = each->link_to_drain(now);
      add_watch(absent.fd, {.sender = nullptr, .receiver = each.get(), .resume = absent.at});
      if (const auto next = each->next_step(now)) sooner(*next);
    }
    for (const int fd : fds_) add_watch(fd, {});
    wait();
  }
  session_.leave();
}

void housekeeping::take_changes() {
  if (!changed_) return;
  changed_ = false;
  topics_ = wanted_;
  for (auto& each : ended_) session_.withdraw(std::move(each));
  ended_.clear();
}

void housekeeping::look_after(publication& p) {
  if (!session_.place()) return;
  if (!p.is_open()) {
    if (const auto opened = p.open(*session_.place()); !opened) p.announcement().refused(opened.error());
    if (!p.left_out().empty()) session_.log(log_level::warning, p.left_out());
  }
  fds_.clear();
  p.append_fds(fds_);
  for (const int fd : fds_) add_watch(fd, {.sender = &p, .receiver = nullptr});
}

void housekeeping::add_watch(int fd, watch whom) {
  if (fd < 0) return;
  polled_.push_back({whom.receiver != nullptr ? ~fd : fd, POLLIN, 0});
  watches_.push_back(whom);
}

// Until there is something to do that takes a whole turn. Readers that join or lag do not, nor do samples for a user
// who is away: with a thousand topics, looking at all of them for each would be most of the work.
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

// A negative descriptor is left out by poll. Returns when the next one is due.
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

// False: something is ready that takes a whole turn.
bool housekeeping::serve(monotonic::time_point now) {
  bool enough = true;
  for (std::size_t i = 0; i < polled_.size(); ++i) {
    if (polled_[i].revents == 0 || polled_[i].fd < 0) continue;
    watch& whom = watches_[i];
    if (whom.sender != nullptr) {
      whom.sender->service();
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

}  // namespace orc::detail
