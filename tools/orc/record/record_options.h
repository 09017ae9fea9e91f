// What `orc record` was asked for, and how its words become numbers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "orc/recording/writer.h"

namespace orc::cli {

// "1GB", "10min" or "2GB,30min". 0: no limit of that kind.
struct split_rule {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};

  [[nodiscard]] bool any() const noexcept { return bytes != 0 || time.count() != 0; }
};

enum class record_format : std::uint8_t { mcap, lcm };

struct record_options {
  std::string broker;
  std::vector<std::string> topics;  // names and globs; empty: all
  std::string output;               // empty: a name from the date
  record_format format = record_format::mcap;
  recording::compression compression = recording::compression::none;
  bool sync = false;
  bool force = false;
  split_rule split;
  std::uint64_t max_size = 0;  // 0: no limit
  std::size_t buffer = std::size_t{256} * 1000 * 1000;
  std::size_t depth = 0;  // 0: chosen for each topic
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds last{0};  // black box; 0: record at once
  std::string name;                  // by which --trigger finds this recorder
  bool multicast = false;
  std::string url;  // of the LCM network; empty: the participant's default
  std::vector<std::string> lcm_types;
  bool quiet = false;
};

// Sizes and durations, separated by commas, at most one of each. A number alone is a duration.
[[nodiscard]] detail::expected<split_rule> split_of_text(std::string_view text);

}  // namespace orc::cli
