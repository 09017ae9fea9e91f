#include "tools/orc/log/log_statistics.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "tools/orc/recording/shared_channel.h"

namespace orc::cli {

std::optional<double> topic_statistics::rate_hz() const noexcept {
  if (samples < 2 || last_ns <= first_ns) return std::nullopt;
  return static_cast<double>(samples - 1) / (static_cast<double>(last_ns - first_ns) / 1e9);
}

void log_statistics::add_channels(const std::vector<recording::channel>& channels) {
  while (channels_.size() < channels.size()) {
    const recording::channel& added = channels[channels_.size()];
    topic_statistics& topic = topics_[added.topic];
    topic.type = added.type.name;
    ++topic.channels;
    if (std::string by = shared_publication_of(added); !by.empty()) topic.shared_by.insert(std::move(by));
    channels_.push_back({.topic = &topic, .sequence = std::nullopt});
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
  // The file keeps 32 bits. A step back is a publisher that began anew.
  const auto sequence = static_cast<std::uint32_t>(sample.sequence);
  if (numbers_count_ && channel.sequence && sequence != 0) {
    const std::uint32_t step = sequence - *channel.sequence;
    if (step > 1 && step < (std::uint32_t{1} << 31)) topic.lost += step - 1;
  }
  channel.sequence = sequence;
}

}  // namespace orc::cli
