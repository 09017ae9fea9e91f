#include "tools/orc/log/log_statistics.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "tools/orc/recording/recorded_types.h"
#include "tools/orc/recording/shared_channel.h"

namespace orc::cli {

namespace {

// Of a channel: its last gaps, and the numbers in each, that may come late.
constexpr std::size_t max_gaps = 8;
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

// Numbers may wrap: they are compared by their distance from the begin of the gap.
bool log_statistics::fills_gap(std::uint32_t sequence, std::vector<gap>& missing) {
  const auto at =
      std::ranges::find_if(missing, [&](const gap& each) { return sequence - each.first <= each.last - each.first; });
  if (at == missing.end()) return false;
  const gap whole = *at;
  const auto next = missing.erase(at);
  if (sequence != whole.last) {
    const auto behind = missing.insert(next, {sequence + 1, whole.last});
    if (sequence != whole.first) missing.insert(behind, {whole.first, sequence - 1});
  } else if (sequence != whole.first) {
    missing.insert(next, {whole.first, sequence - 1});
  }
  if (missing.size() > max_gaps) missing.erase(missing.begin());
  return true;
}

void log_statistics::count(std::uint32_t sequence, channel_state& channel) {
  const bool is_first = !channel.sequence;
  const std::uint32_t step = is_first ? 0 : sequence - *channel.sequence;
  if (!is_first && step == 0) return;
  if (!is_first && step >= (std::uint32_t{1} << 31)) {
    // A step back is a sample that comes late, or a publisher that began anew.
    if (fills_gap(sequence, channel.missing)) {
      --channel.topic->lost;
      return;
    }
    channel.missing.clear();
  } else if (!is_first && sequence != 0 && step > 1) {
    channel.topic->lost += step - 1;
    channel.missing.push_back({sequence - std::min(step - 1, max_missing), sequence - 1});
    if (channel.missing.size() > max_gaps) channel.missing.erase(channel.missing.begin());
  }
  channel.sequence = sequence;
}

}  // namespace orc::cli
