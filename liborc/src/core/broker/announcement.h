// The declaration of one topic to the broker, and the broker's answer. The housekeeping repeats it until the broker
// confirms it for its current epoch. A set-up call waits for the outcome.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "orc/result.h"

namespace orc::detail {

// Any thread.
class announcement {
 public:
  // The interval doubles, because only the answer to the last attempt counts and a slow network needs time for it.
  static constexpr auto retry_after = std::chrono::milliseconds(300);
  static constexpr auto max_retry_interval = std::chrono::milliseconds(2400);
  // A name that another participant has is asked for again after this long.
  static constexpr auto ask_again_after = std::chrono::milliseconds(2000);

  // Returns the outcome or the obstacle; errc::timed_out when there is neither at the deadline.
  [[nodiscard]] result wait(const deadline& until) const {
    std::unique_lock lock(mutex_);
    const waiting here(waiting_);
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
    return state_ == state::unsent || (state_ == state::sent && now - sent_at_ >= retry_) ||
           (state_ == state::refused && again_ && *again_ <= now);
  }
  // When due() may turn true; nothing: not without another call.
  [[nodiscard]] std::optional<monotonic::time_point> next() const {
    const std::lock_guard lock(mutex_);
    if (state_ == state::unsent) return monotonic::time_point{};
    if (state_ == state::sent) return sent_at_ + retry_;
    return again_;
  }

  void sent(std::uint64_t request, monotonic::time_point now) {
    const std::lock_guard lock(mutex_);
    was_sent_ = true;
    if (state_ == state::refused && !again_) return;  // withdrawn meanwhile
    retry_ = state_ == state::sent ? std::min(2 * retry_, max_retry_interval) : retry_after;
    state_ = state::sent;
    again_.reset();
    request_ = request;
    sent_at_ = now;
  }
  // True when `request` is the last one sent and has no outcome yet.
  [[nodiscard]] bool awaits(std::uint64_t request) const {
    const std::lock_guard lock(mutex_);
    return state_ == state::sent && request_ == request;
  }
  void confirmed() { settle(state::confirmed, {}); }
  void refused(error why) { settle(state::refused, std::move(why)); }
  // Another participant has the name. That is final for a thread that waits. Else nobody was told, so it asks for the
  // name again: the other one may leave. Returns whether the reason is another one than the last time.
  bool taken(error why, monotonic::time_point now) {
    bool news = false;
    {
      const std::lock_guard lock(mutex_);
      news = why_.message() != why.message();
      if (waiting_ == 0) {
        state_ = state::refused;
        why_ = std::move(why);
        again_ = now + ask_again_after;
        return news;
      }
    }
    refused(std::move(why));
    return news;
  }
  // The topic was given up. Reports errc::closed to threads that still wait.
  void withdrawn() {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == state::confirmed || (state_ == state::refused && !again_)) return;
    }
    refused(error(errc::closed));
  }
  // The broker may have forgotten it, or must learn something new. What was refused for good stays refused.
  void renew() {
    const std::lock_guard lock(mutex_);
    obstacle_.reset();
    if (state_ != state::refused || again_) state_ = state::unsent;
  }
  // Its endpoints changed. Sends it again, also if it was refused, perhaps for its endpoints.
  void moved() {
    const std::lock_guard lock(mutex_);
    obstacle_.reset();
    if (state_ != state::refused || again_ || why_.code() == errc::bad_argument) state_ = state::unsent;
  }
  // The reason for the refusal is gone.
  void reopen() {
    const std::lock_guard lock(mutex_);
    state_ = state::unsent;
  }
  // Sets the obstacle that prevents an answer for now, and reports it to waiting threads; nothing: there is none.
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
  // True when some broker may know it.
  [[nodiscard]] bool was_sent() const {
    const std::lock_guard lock(mutex_);
    return was_sent_;
  }

 private:
  enum class state { unsent, sent, confirmed, refused };
  // Counts a waiting thread, which holds the lock when this begins and ends.
  class waiting {
   public:
    explicit waiting(int& count) noexcept : count_(count) { ++count_; }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
    ~waiting() { --count_; }

   private:
    int& count_;
  };

  void settle(state outcome, error why) {
    {
      const std::lock_guard lock(mutex_);
      state_ = outcome;
      why_ = std::move(why);
      again_.reset();
    }
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int waiting_ = 0;
  state state_ = state::unsent;
  std::optional<monotonic::time_point> again_;  // of a refused one: when to ask again
  std::uint64_t request_ = 0;
  monotonic::time_point sent_at_;
  std::chrono::milliseconds retry_ = retry_after;
  error why_;
  std::optional<error> obstacle_;
  bool was_sent_ = false;
};

}  // namespace orc::detail
