// Takes what a player plays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/orc/recording/merged_recording.h"

namespace orc::cli {

struct played_sample {
  std::size_t channel = 0;    // number of its add()
  std::int64_t time_ns = 0;   // received_ns of the recording
  std::int64_t stamp_ns = 0;  // as recorded
  std::uint64_t sequence = 0;
  std::span<const std::byte> data = {};
};

// The thread of the player calls.
class play_sink {
 public:
  play_sink() = default;
  play_sink(const play_sink&) = delete;
  play_sink& operator=(const play_sink&) = delete;
  virtual ~play_sink() = default;

  // Channels come in the order of merged_recording::channels(), each before its first sample.
  virtual result add(const merged_channel& added) = 0;
  virtual result publish(const played_sample& sample) = 0;
  // What comes next does not continue what came before.
  virtual void jumped() {}
  // What to say of channels that cannot be played, since the last call.
  [[nodiscard]] virtual std::vector<std::string> remarks() { return {}; }
};

}  // namespace orc::cli
