// Plays a recording: hands out each sample at its time, in a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/files/unique_fd.h"
#include "tools/orc/play/play_sink.h"
#include "tools/orc/play/play_timeline.h"
#include "tools/orc/play/read_ahead.h"

namespace orc::cli {

// What a player does now.
struct play_status {
  std::int64_t position_ns = 0;  // received_ns of what plays
  double rate = 1;
  bool paused = false;
  bool at_end = false;  // nothing is left to play, but it is paused
  bool ended = false;
  std::uint64_t samples = 0;   // published
  std::uint64_t bytes = 0;     // of these
  std::int64_t behind_ns = 0;  // the most that a sample was published after its time
  std::string failure = {};    // why it ended early
};

// Samples are due at absolute times of CLOCK_MONOTONIC, so delays do not add up: after one, what is due is published at
// once. Any thread may call.
class player {
 public:
  player(merged_recording& source, play_sink& to, const play_range& range, double rate, bool paused);
  ~player();
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  void start();
  // Ends the thread: nothing is published any more.
  void stop();
  // Paused at the end, it waits: seek_by() or seek_to() leads back. Until then resume() and step() do nothing.
  void pause();
  void resume();
  // Publishes the next sample, and pauses.
  void step();
  // Relative to the position; stays within the range. What each topic had there is published at once.
  void seek_by(std::int64_t ns);
  void seek_to(std::int64_t position_ns);
  void set_rate(double rate);

  [[nodiscard]] play_status status() const;
  // Readable when something else than the position has changed, until clear_change().
  [[nodiscard]] int fd() const noexcept { return change_fd_.get(); }
  void clear_change() noexcept;
  // What could not be read or published since the last call, a sentence each.
  [[nodiscard]] std::vector<std::string> problems();

 private:
  using kind = play_batch::entry::kind;

  void run();
  // Null: a command came, or nothing is left.
  [[nodiscard]] const play_batch::entry* next_entry();
  // False: a command came, or it failed.
  bool play(const play_batch::entry& entry);
  void reach_end();
  bool publish(const play_batch::entry& entry);
  [[nodiscard]] bool wait_until(std::int64_t due_ns) const;
  void wait_for_command() const;
  void obey();
  void command();
  void announce() noexcept;
  void fail(const result& why);

  play_sink& to_;
  const play_range range_;
  read_ahead ahead_;
  detail::unique_fd command_fd_;
  detail::unique_fd change_fd_;

  // Of the thread.
  std::unique_ptr<play_batch> batch_;
  std::size_t next_ = 0;
  bool fresh_ = true;  // the time runs from the first sample that is ready
  std::int64_t target_ns_;
  bool over_ = false;

  mutable std::mutex mutex_;
  play_timeline timeline_;
  play_status status_;  // without what the timeline says
  std::vector<std::string> remarks_;
  std::optional<std::int64_t> seek_wanted_;
  std::uint64_t steps_wanted_ = 0;
  bool stop_ = false;
  std::atomic<bool> commanded_{false};
  std::thread thread_;
};

}  // namespace orc::cli
