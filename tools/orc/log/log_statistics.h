// What `orc log info` finds out about each topic of a recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orc/recording/reader.h"

namespace orc::cli {

struct topic_statistics {
  std::string type;                      // of the last channel; empty: untyped
  std::size_t channels = 0;              // publications: a restarted publisher makes a new one
  std::set<std::string> shared_by = {};  // publications that shared the topic
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t largest_gap_ns = 0;  // between two samples
  std::int64_t gap_at_ns = 0;       // where it begins
  std::uint64_t lost = 0;           // samples missing by their sequence numbers
  std::uint64_t dropped = 0;        // samples that the recorder received, and could not write

  // Samples per second; nothing with fewer than two samples, or all at one time.
  [[nodiscard]] std::optional<double> rate_hz() const noexcept;
};

class log_statistics {
 public:
  // LCM numbers all channels together, so a number that is missing has no topic.
  explicit log_statistics(bool numbers_count) : numbers_count_(numbers_count) {}

  void add_channels(const std::vector<recording::channel>& channels);
  // What the recorder noted.
  void add_metadata(const std::vector<recording::named_metadata>& metadata);
  // Its channel must have been added.
  void add(const recording::sample& sample);

  [[nodiscard]] const std::map<std::string, topic_statistics>& topics() const noexcept { return topics_; }

 private:
  struct gap {
    std::uint32_t first, last;
  };
  struct channel_state {
    topic_statistics* topic = nullptr;
    std::optional<std::uint32_t> sequence = {};  // the highest
    std::vector<gap> missing = {};               // before it, the newest last
  };
  static void count(std::uint32_t sequence, channel_state& channel);
  [[nodiscard]] static bool fills_gap(std::uint32_t sequence, std::vector<gap>& missing);

  const bool numbers_count_;
  std::map<std::string, topic_statistics> topics_;
  std::vector<channel_state> channels_;
};

}  // namespace orc::cli
