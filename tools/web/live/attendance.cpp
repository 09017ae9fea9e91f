#include "tools/web/live/attendance.h"

namespace orc::web {

namespace {

constexpr std::chrono::seconds attendance_patience{5};

}  // namespace

void attendance::enter() {
  {
    const std::lock_guard lock(mutex_);
    ++clients_;
  }
  changed_.notify_all();
}

void attendance::leave() noexcept {
  const std::lock_guard lock(mutex_);
  --clients_;
}

void attendance::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_bell_.ring();
  changed_.notify_all();
}

bool attendance::await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || clients_ != 0; });
  idle_since_ = {};
  return !stop_;
}

bool attendance::goes_on(clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (stop_) return false;
  if (clients_ != 0) {
    idle_since_ = {};
    return true;
  }
  if (idle_since_ == clock::time_point()) idle_since_ = now;
  return now - idle_since_ < attendance_patience;
}

}  // namespace orc::web
