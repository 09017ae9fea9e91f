#include "tools/web/live/live_system.h"

#include <poll.h>

#include <chrono>
#include <exception>
#include <utility>

#include "tools/web/nanoseconds.h"
#include "tools/web/page_protocol/system_text.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto idle_patience = 5s;
constexpr auto begin_again = 1s;  // when the system had no thread or descriptor

}  // namespace

live_system::live_system(std::string broker, bool all) : broker_(std::move(broker)), all_(all) {
  thread_ = start_thread([this] { run(); });
}

live_system::~live_system() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void live_system::open() {
  {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0 && !poller_) {  // it is from long ago
      seen_ = {};
      seen_at_ns_ = 0;
      text_.reset();
    }
  }
  changed_.notify_all();
}

void live_system::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    --users_;
  }
  changed_.notify_all();
}

std::uint64_t live_system::refresh() {
  {
    const std::lock_guard lock(mutex_);
    if (poller_) {
      pollfd news{poller_->fd(), POLLIN, 0};
      if (::poll(&news, 1, 0) != 1) return number_;
      seen_ = poller_->newest();
    } else {
      if (problem_.empty()) return number_;
      seen_ = {.problem = std::exchange(problem_, {})};
    }
  }
  seen_at_ns_ = realtime_ns();
  text_.reset();
  return ++number_;
}

std::shared_ptr<const std::string> live_system::text() const {
  if (!text_ && seen_at_ns_ != 0)
    text_ = std::make_shared<const std::string>(system_text(seen_.figures.get(), seen_.problem, seen_at_ns_));
  return text_;
}

void live_system::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (users_ != 0 && !poller_) {
      begin_poller(lock);
    } else if (users_ == 0 && poller_) {
      if (!changed_.wait_for(lock, idle_patience, [this] { return stop_ || users_ != 0; })) end_poller(lock);
    } else {
      changed_.wait(lock, [this] { return stop_ || (users_ != 0) != (poller_ != nullptr); });
    }
  }
}

void live_system::begin_poller(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::unique_ptr<view::broker_poller> made;
  std::string problem;
  try {
    made = std::make_unique<view::broker_poller>(broker_, all_);
  } catch (const std::exception& error) {
    problem = "orc-web cannot ask the broker: " + std::string(error.what());
  }
  lock.lock();
  poller_ = std::move(made);
  problem_ = std::move(problem);
  if (!poller_) changed_.wait_for(lock, begin_again, [this] { return stop_; });
}

void live_system::end_poller(std::unique_lock<std::mutex>& lock) {
  auto ended = std::move(poller_);
  lock.unlock();
  ended.reset();
  lock.lock();
}

}  // namespace orc::web
