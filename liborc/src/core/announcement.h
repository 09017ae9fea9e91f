// What the broker has been told of one topic of this participant, and what it answered. The housekeeping keeps telling
// until it is confirmed for the broker's current epoch; a set-up call waits for the outcome.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/clock.h"
#include "orc/result.h"

namespace orc::detail {

// Any thread.
class announcement {
 public:
  // Twice as long each time: only the answer to the last attempt counts, and a slow network must have time for it.
  static constexpr auto retry_after = std::chrono::milliseconds(300);
  static constexpr auto longest_retry = std::chrono::milliseconds(2400);

  // The outcome, or what holds it up; errc::timed_out when there is neither at the deadline.
  [[nodiscard]] result wait(const deadline& until) const {
    std::unique_lock lock(mutex_);
    while (state_ != state::confirmed && state_ != state::refused && !obstacle_) {
      const auto left = until.left();
      if (!left) {
        changed_.wait(lock);
      } else {
        if (until.passed()) return errc::timed_out;
        changed_.wait_for(lock, std::chrono::seconds(left->tv_sec) + std::chrono::nanoseconds(left->tv_nsec));
      }
    }
    if (state_ == state::confirmed) return {};
    const error& why = state_ == state::refused ? why_ : *obstacle_;
    return {why.code(), why.message()};
  }

  // True when it has to be sent (again) now.
  [[nodiscard]] bool due(monotonic::time_point now) const {
    const std::lock_guard lock(mutex_);
    return state_ == state::unsent || (state_ == state::sent && now - sent_at_ >= retry_);
  }
  // When due() may turn true; nothing: not by itself.
  [[nodiscard]] std::optional<monotonic::time_point> next() const {
    const std::lock_guard lock(mutex_);
    if (state_ == state::unsent) return monotonic::time_point{};
    if (state_ == state::sent) return sent_at_ + retry_;
    return std::nullopt;
  }

  void sent(std::uint64_t request, monotonic::time_point now) {
    const std::lock_guard lock(mutex_);
    was_sent_ = true;
    if (state_ == state::refused) return;  // withdrawn meanwhile
    retry_ = state_ == state::sent ? std::min(2 * retry_, longest_retry) : retry_after;
    state_ = state::sent;
    request_ = request;
    sent_at_ = now;
  }
  // True when `request` is the one that was sent last and is not settled yet.
  [[nodiscard]] bool awaits(std::uint64_t request) const {
    const std::lock_guard lock(mutex_);
    return state_ == state::sent && request_ == request;
  }
  void confirmed() { settle(state::confirmed, {}); }
  void refused(error why) { settle(state::refused, std::move(why)); }
  // The topic was given up: who still waits for the outcome is told.
  void withdrawn() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == state::confirmed || state_ == state::refused) return;
    }
    refused(error(errc::closed));
  }
  // The broker may have forgotten it, or must learn something new. What was refused stays refused.
  void renew() {
    const std::lock_guard lock(mutex_);
    obstacle_.reset();
    if (state_ != state::refused) state_ = state::unsent;
  }
  // Its endpoints changed: what was refused for them, perhaps, is said again as well.
  void moved() {
    const std::lock_guard lock(mutex_);
    obstacle_.reset();
    if (state_ != state::refused || why_.code() == errc::bad_argument) state_ = state::unsent;
  }
  // It was refused for a reason that is gone.
  void reopen() {
    const std::lock_guard lock(mutex_);
    state_ = state::unsent;
  }
  // Nothing can come of it for now (nothing: it can again). Who waits is told; it stays to be declared.
  void held_up(const std::optional<error>& why) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == state::confirmed || state_ == state::refused) return;
      obstacle_ = why;
    }
    if (why) changed_.notify_all();
  }
  [[nodiscard]] bool is_refused() const {
    const std::lock_guard lock(mutex_);
    return state_ == state::refused;
  }
  // A broker may have heard of it.
  [[nodiscard]] bool was_sent() const {
    const std::lock_guard lock(mutex_);
    return was_sent_;
  }

 private:
  enum class state { unsent, sent, confirmed, refused };

  void settle(state outcome, error why) {
    {
      const std::lock_guard lock(mutex_);
      state_ = outcome;
      why_ = std::move(why);
    }
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  state state_ = state::unsent;
  std::uint64_t request_ = 0;
  monotonic::time_point sent_at_;
  std::chrono::milliseconds retry_ = retry_after;
  error why_;
  std::optional<error> obstacle_;
  bool was_sent_ = false;
};

}  // namespace orc::detail
