// What waits for the disk, within a bound: blocks of samples from the receiving to the writing thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/orc/record/record_sample.h"

namespace orc::cli {

// Samples in the order in which they were received. Who takes it out of the buffer owns it alone, except in a black
// box: there it stays unchanged.
struct record_block {
  std::vector<record_sample> samples = {};
  std::size_t bytes = 0;  // that it occupies

  void add(record_sample&& one);
};

// Samples of one topic that are not in the file.
struct record_loss {
  std::uint64_t count = 0;
  std::int64_t first_ns = 0;  // receive times that bound them
  std::int64_t last_ns = 0;

  void add(std::uint64_t more, std::int64_t from_ns, std::int64_t to_ns);
};
using record_losses = std::map<std::string, record_loss>;  // by topic

// Drops the oldest blocks when it is full: the receiving thread never waits. One receiving thread, one writing thread;
// any thread may read the counters.
class record_buffer {
 public:
  // `keep`: how long a sample stays (black box); 0: until it is written.
  record_buffer(std::size_t max_bytes, std::chrono::nanoseconds keep) : max_bytes_(max_bytes), keep_(keep) {}

  // ---- receiving thread ----
  void push(std::shared_ptr<record_block> filled);
  // Samples that were lost before they reached this program.
  void note_missed(const std::string& topic, std::uint64_t count, std::int64_t after_ns, std::int64_t before_ns);
  // No more blocks come.
  void end();

  // ---- writing thread ----
  struct portion {
    std::shared_ptr<record_block> block = {};  // null: nothing came in time
    record_losses dropped = {};                // since the last call
    record_losses missed = {};
    bool ended = false;  // and nothing is left
  };
  [[nodiscard]] portion pop(std::chrono::steady_clock::time_point until);

  // ---- black box; any thread ----
  // All that is kept, oldest first. It stays. `before`: each topic's last sample from before that, of a shared topic
  // that of each publisher that had not left.
  [[nodiscard]] std::vector<std::shared_ptr<const record_block>> snapshot(std::vector<record_sample>& before) const;
  // The losses since the last call.
  [[nodiscard]] portion take_losses();
  // The time that the samples span.
  [[nodiscard]] std::chrono::nanoseconds span() const;
  // The bound dropped samples that were younger than `keep`.
  [[nodiscard]] bool too_small() const;

  struct counters {
    std::size_t bytes = 0;      // now
    std::size_t max_bytes = 0;  // ever
    std::uint64_t received = 0;
    std::uint64_t received_bytes = 0;  // of their payloads
    std::uint64_t dropped = 0;
    std::uint64_t missed = 0;
  };
  [[nodiscard]] counters count() const;

 private:
  void remember(const record_block& expired);

  const std::size_t max_bytes_;
  const std::chrono::nanoseconds keep_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::shared_ptr<record_block>> blocks_;
  std::map<std::string, record_sample> before_;  // black box: the last sample of each record_source::line that expired
  record_losses dropped_;
  record_losses missed_;
  counters counters_;
  bool too_small_ = false;
  bool ended_ = false;
};

}  // namespace orc::cli
