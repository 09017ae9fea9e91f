// What a recording holds: channels, and their samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "orc/type_description.h"

namespace orc::recording {

// Number of a channel within one reader or writer, from 0 without gaps.
using channel_id = std::uint16_t;
// MCAP numbers channels with 16 bits and keeps 0 for "no schema".
inline constexpr std::size_t max_channels = 65535;

// One publication of a topic. A topic whose type changed, or whose publisher restarted, has several channels.
struct channel {
  std::string topic = {};
  type_description type = {};                        // empty: untyped
  std::map<std::string, std::string> metadata = {};  // MCAP's: "orc.publisher", "orc.transport", …

  bool operator==(const channel&) const = default;
};

// One sample of a channel. A view: who makes it says how long `data` lives. A time before 1970 is written as 0. MCAP's
// times end in 2554: what one has beyond INT64_MAX is in its `_excess_ns`.
struct sample {
  channel_id channel = 0;
  std::uint64_t sequence = 0;    // message::sequence(); MCAP keeps the low 32 bits. 0: LCM logs have none
  std::int64_t received_ns = 0;  // MCAP's log time: CLOCK_REALTIME of the recorder, ns since the Unix epoch
  std::int64_t stamp_ns = 0;     // MCAP's publish time: message::stamp_ns()
  std::span<const std::byte> data = {};
  std::uint64_t received_excess_ns = 0;
  std::uint64_t stamp_excess_ns = 0;
};

// A file within a recording.
struct attachment {
  std::string name = {};
  std::string media_type = {};
  std::uint64_t log_time_ns = 0;     // when it was recorded
  std::uint64_t create_time_ns = 0;  // 0: not known
  std::uint64_t size = 0;
};

}  // namespace orc::recording
