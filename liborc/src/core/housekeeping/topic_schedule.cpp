#include "core/housekeeping/topic_schedule.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orc::detail {

namespace {

constexpr auto unwatched_interval = std::chrono::milliseconds(100);

}  // namespace

void topic_schedule::remove(watched_topic& which) noexcept {
  for (const int fd : which.watched) watch_set_.drop(fd, &which);
  timers_.erase(which.timer);
}

void topic_schedule::look_soon(watched_topic& which) noexcept {
  which.look_at = {};
  set_timer(which);
}

void topic_schedule::set_timer(watched_topic& which) noexcept {
  const auto at = std::min(which.look_at, which.resume_at);
  if (which.timer->first == at) return;
  auto node = timers_.extract(which.timer);
  node.key() = at;
  which.timer = timers_.insert(std::move(node));
}

const std::vector<watched_topic*>& topic_schedule::due(monotonic::time_point now) {
  due_.clear();
  for (auto each = timers_.begin(); each != timers_.end() && each->first <= now; ++each) due_.push_back(each->second);
  return due_;
}

void topic_schedule::watch(watched_topic& which, const std::vector<int>& fds) {
  for (const int old : which.watched) {
    if (std::find(fds.begin(), fds.end(), old) == fds.end()) watch_set_.drop(old, &which);
  }
  which.watched = fds;
}

void topic_schedule::rest(watched_topic& which, monotonic::time_point until, monotonic::time_point now) noexcept {
  which.resume_at = until > now ? until : monotonic::time_point::max();
}

void topic_schedule::arm_all(watched_topic& which, monotonic::time_point now) {
  rest(which, which.is_resting() ? which.resume_at : now, now);
  for (const int fd : which.watched) {
    if (!which.is_resting() || (which.receiver && fd != which.absent_fd)) arm(which, fd, now);
  }
}

void topic_schedule::arm(watched_topic& which, int fd, monotonic::time_point now) {
  if (!watch_set_.arm(fd, &which)) which.look_at = std::min(which.look_at, now + unwatched_interval);
}

void topic_schedule::wait(monotonic::time_point end) noexcept {
  watch_set_.wait(timers_.empty() ? end : std::min(end, timers_.begin()->first));
}

}  // namespace orc::detail
