// The replayed program's end of the conversation with `orc replay` (wire/replay_control.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/files/unique_fd.h"
#include "orc/result.h"
#include "wire/replay_control.h"

namespace orc::detail {

// One thread at a time.
class replay_channel {
 public:
  replay_channel() = default;
  replay_channel(const replay_channel&) = delete;
  replay_channel& operator=(const replay_channel&) = delete;
  ~replay_channel();

  // `control`: the descriptors and the pace, as $ORC_REPLAY_CONTROL has them. Fails when they are not there, or when
  // another process replays already.
  [[nodiscard]] result open(const std::string& control);
  [[nodiscard]] wire::replay_pace pace() const noexcept { return pace_; }
  [[nodiscard]] wire::replay_counters& counters() noexcept { return *counters_; }

  // Says it and, if it is to be answered, waits for the answer. `orc replay` that is gone means stop.
  wire::replay_answer say(wire::replay_says kind, std::uint64_t position, std::span<const std::byte> bytes) noexcept;

 private:
  unique_fd socket_;
  wire::replay_counters* counters_ = nullptr;
  wire::replay_pace pace_ = wire::replay_pace::fast;
};

}  // namespace orc::detail
