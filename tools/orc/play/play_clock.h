// Publishes the time that plays, for programs that compute with times of the recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/files/unique_fd.h"
#include "orc/publisher.h"
#include "orc/typed/describe.h"
#include "tools/orc/play/play_output.h"
#include "tools/orc/play/player.h"

namespace orc {

// A sample of `orc play --clock`.
struct Clock {               // NOLINT(readability-identifier-naming): the name that subscribers see
  std::int64_t time_ns = 0;  // received_ns of what plays: ns since the Unix epoch
  double rate = 1;           // recorded seconds per second
  bool paused = false;
};
ORC_DESCRIBE(Clock, time_ns, rate, paused)

}  // namespace orc

namespace orc::cli {

// 100 times a second, and when it is paused, goes on, jumps or changes its rate.
class play_clock {
 public:
  // Registers the topic. The error is register_topic's.
  static result make(const std::string& topic, play_output& to, publisher& made);

  play_clock(publisher to, const player& of);
  ~play_clock();
  play_clock(const play_clock&) = delete;
  play_clock& operator=(const play_clock&) = delete;

  // Publishes at once.
  void changed() noexcept;

 private:
  void run();

  publisher to_;
  const player& of_;
  detail::unique_fd wake_fd_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::cli
