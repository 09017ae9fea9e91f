// The controls of a recording that is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orc::web {

struct playback_status {
  std::int64_t position_ns = 0;  // of the recording, since the Unix epoch
  bool playing = false;
  double rate = 1;
  std::string problem = {};  // what cannot be read or played since the last seek(); empty: nothing

  bool operator==(const playback_status&) const = default;
};

// All clients share one position. No call waits.
class playback {
 public:
  playback() = default;
  playback(const playback&) = delete;
  playback& operator=(const playback&) = delete;
  virtual ~playback() = default;

  [[nodiscard]] virtual const std::vector<std::string>& files() const = 0;
  [[nodiscard]] virtual std::int64_t start_ns() const = 0;
  [[nodiscard]] virtual std::int64_t end_ns() const = 0;
  [[nodiscard]] virtual playback_status status() const = 0;
  virtual void play() = 0;
  virtual void pause() = 0;
  virtual void seek(std::int64_t position_ns) = 0;
  virtual void set_rate(double rate) = 0;
};

}  // namespace orc::web
