// Reads a recording ahead of its player, in a thread of its own, so that no disk and no decompression delays a sample.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/orc/recording/merged_recording.h"

namespace orc::cli {

// The part of a recording that plays.
struct play_range {
  std::int64_t from_ns = 0;  // received_ns, both inclusive
  std::int64_t to_ns = 0;
  bool loop = false;  // behind `to_ns` it goes on at `from_ns`
  bool stay = false;  // at the end the player pauses, and does not end
};

// Samples in the order in which they play.
struct play_batch {
  struct entry {
    enum class kind : std::uint8_t {
      state,   // a sample before the position that was jumped to: what a late joiner would have
      sample,  // at `time_ns`
      wrap     // at `time_ns` the loop goes on at play_range::from_ns
    };
    kind what = kind::sample;
    std::size_t channel = 0;  // index of merged_recording::channels()
    std::int64_t time_ns = 0;
    std::int64_t stamp_ns = 0;  // as recorded
    std::uint64_t sequence = 0;
    std::size_t offset = 0;  // of its bytes in `data`
    std::size_t size = 0;
  };

  std::uint64_t generation = 0;
  std::vector<merged_channel> new_channels;  // that were not known when reading began, in no batch before
  std::vector<entry> entries;
  std::vector<std::byte> data;
  bool last = false;  // nothing comes after it

  [[nodiscard]] std::span<const std::byte> bytes(const entry& of) const noexcept {
    return std::span(data).subspan(of.offset, of.size);
  }
};

// Reads at most 64 MiB ahead, or one sample that is larger. One thread takes; any thread may call interrupt() and
// problems().
class read_ahead {
 public:
  // Begins to read at `range.from_ns`. `source` is the thread's until the end.
  read_ahead(merged_recording& source, const play_range& range);
  ~read_ahead();
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;

  // Waits for the next batch. Null: it was interrupted, or the last batch has been taken.
  [[nodiscard]] std::unique_ptr<play_batch> take();
  // For the memory of later ones.
  void give_back(std::unique_ptr<play_batch> used);
  // Ends the wait of take(), now or the next time.
  void interrupt();
  // Drops what was read, and goes on at this position.
  void seek(std::int64_t position_ns);
  // What could not be read since the last call, a sentence each.
  [[nodiscard]] std::vector<std::string> problems();

 private:
  void run();
  void start_at(std::int64_t position_ns, play_batch& to);
  void fill(play_batch& to);
  void add(play_batch& to, play_batch::entry::kind what, const merged_sample& sample);
  void add_problem(const result& failure);
  // With the mutex.
  void add_new_channels(play_batch& to);
  [[nodiscard]] bool is_full() const noexcept;
  [[nodiscard]] std::unique_ptr<play_batch> empty_batch();

  merged_recording& source_;
  const play_range range_;

  bool at_end_ = false;  // of the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t told_channels_;  // that the player has, or finds in ready_
  std::deque<std::unique_ptr<play_batch>> ready_;
  std::vector<std::unique_ptr<play_batch>> spare_;
  std::size_t ahead_bytes_ = 0;
  std::vector<std::string> problems_;
  std::uint64_t generation_ = 1;
  std::int64_t start_ns_;
  bool start_wanted_ = true;
  bool interrupted_ = false;
  bool ended_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orc::cli
