// The publication from which recorded samples came.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "orc/recording/sample.h"
#include "tools/orc/recording/shared_channel.h"

namespace orc::cli {

// Its samples are queued before its type is known: the thread that asks the broker fills in the type, and the writing
// thread waits for that for a while.
class record_source {
 public:
  // `publication`: its id when the topic is shared, else empty.
  record_source(std::string topic, std::uint64_t number, std::string publication = {})
      : topic_(std::move(topic)), publication_(std::move(publication)), number_(number) {}

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  // As line_of the channel.
  [[nodiscard]] std::string line() const { return line_of(topic_, publication_); }
  [[nodiscard]] bool is_shared() const noexcept { return !publication_.empty(); }
  // Different for each source of one run, from 1.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // Any thread. 0: nothing is known yet. Grows when more becomes known, such as a schema that came late.
  [[nodiscard]] std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  [[nodiscard]] recording::channel channel() const {
    const std::lock_guard lock(mutex_);
    return channel_;
  }
  // False: samples of this topic are dangerous when they are old, so no later file starts with one.
  [[nodiscard]] bool keep_last() const noexcept { return keep_last_.load(std::memory_order_relaxed); }

  // Any thread. When the publication left a topic that is shared, or became so, by CLOCK_MONOTONIC; 0: it is there.
  void set_ended(std::int64_t steady_ns) noexcept { ended_ns_.store(steady_ns, std::memory_order_relaxed); }
  [[nodiscard]] bool has_ended_before(std::int64_t steady_ns) const noexcept {
    const std::int64_t ended = ended_ns_.load(std::memory_order_relaxed);
    return ended != 0 && ended < steady_ns;
  }

  void describe(recording::channel known, bool keep_last) {
    {
      const std::lock_guard lock(mutex_);
      if (version() != 0 && channel_ == known) return;
      channel_ = std::move(known);
      keep_last_.store(keep_last, std::memory_order_relaxed);
      version_.fetch_add(1, std::memory_order_release);
    }
    known_.notify_all();
  }

  // Waits until the version is above 0.
  void wait_until_known(std::chrono::steady_clock::time_point until) const {
    if (version() != 0) return;
    std::unique_lock lock(mutex_);
    known_.wait_until(lock, until, [this] { return version() != 0; });
  }

 private:
  const std::string topic_;
  const std::string publication_;
  const std::uint64_t number_;
  mutable std::mutex mutex_;
  mutable std::condition_variable known_;
  std::atomic<std::uint32_t> version_{0};
  std::atomic<bool> keep_last_{true};
  std::atomic<std::int64_t> ended_ns_{0};
  recording::channel channel_;  // guarded by mutex_
};

}  // namespace orc::cli
