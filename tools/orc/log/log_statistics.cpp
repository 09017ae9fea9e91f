#include "tools/orc/log/log_statistics.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "tools/orc/recording/recorded_types.h"
#include "tools/orc/recording/shared_channel.h"

namespace orc::cli {

namespace {

// Numbers of a channel that may come late.
constexpr std::uint32_t max_missing = 1000;

}  // namespace

std::optional<double> topic_statistics::rate_hz() const noexcept {
  if (samples < 2 || last_ns <= first_ns) return std::nullopt;
  return static_cast<double>(samples - 1) / (static_cast<double>(last_ns - first_ns) / 1e9);
}

void log_statistics::add_channels(const std::vector<recording::channel>& channels) {
  while (channels_.size() < channels.size()) {
    const recording::channel& added = channels[channels_.size()];
    topic_statistics& topic = topics_[added.topic];
    topic.type = shown_name(added.type);
    ++topic.channels;
    if (std::string by = shared_publication_of(added); !by.empty()) topic.shared_by.insert(std::move(by));
    channels_.push_back({.topic = &topic});
  }
}

void log_statistics::add_metadata(const std::vector<recording::named_metadata>& metadata) {
  for (const recording::named_metadata& each : metadata) {
    const auto topic = each.entries.find("topic");
    const auto count = each.entries.find("count");
    if (each.name != "orc.drops" || topic == each.entries.end() || count == each.entries.end()) continue;
    const auto known = topics_.find(topic->second);
    std::uint64_t number = 0;
    const std::string& digits = count->second;
    if (known != topics_.end() &&
        std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{})
      known->second.dropped += number;
  }
}

void log_statistics::add(const recording::sample& sample) {
  channel_state& channel = channels_[sample.channel];
  topic_statistics& topic = *channel.topic;
  if (topic.samples == 0) {
    topic.first_ns = sample.received_ns;
  } else if (const std::int64_t gap = sample.received_ns - topic.last_ns; gap > topic.largest_gap_ns) {
    topic.largest_gap_ns = gap;
    topic.gap_at_ns = topic.last_ns;
  }
  topic.last_ns = std::max(topic.last_ns, sample.received_ns);
  ++topic.samples;
  topic.bytes += sample.data.size();
  // The file keeps 32 bits.
  if (const auto sequence = static_cast<std::uint32_t>(sample.sequence); numbers_count_) count(sequence, channel);
}

void log_statistics::count(std::uint32_t sequence, channel_state& channel) {
  const bool is_first = !channel.sequence;
  const std::uint32_t step = is_first ? 0 : sequence - *channel.sequence;
  if (!is_first && step == 0) return;
  if (!is_first && step >= (std::uint32_t{1} << 31)) {
    // A step back is a sample that comes late, or a publisher that began anew.
    if (channel.missing.erase(sequence) != 0) {
      --channel.topic->lost;
      return;
    }
    channel.missing.clear();
  } else if (!is_first && sequence != 0 && step > 1) {
    channel.topic->lost += step - 1;
    for (std::uint32_t i = std::min(step - 1, max_missing); i > 0; --i) channel.missing.insert(sequence - i);
    while (channel.missing.size() > max_missing) channel.missing.erase(channel.missing.begin());
  }
  channel.sequence = sequence;
}

}  // namespace orc::cli
