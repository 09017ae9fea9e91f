#include "mcap/mcap_chunk.h"

#include <algorithm>

#include "mcap/mcap_records.h"

namespace orc::recording::detail {

void mcap_chunk::put_head(const sample& s) {
  if (places_.size() <= s.channel) places_.resize(std::size_t{s.channel} + 1);
  auto& places = places_[s.channel];
  const bool is_first = channels_.empty();
  if (places.empty()) channels_.push_back(s.channel);
  const std::uint64_t time = to_mcap_time(s.received_ns) + s.received_excess_ns;
  places.push_back({time, records_.size()});
  first_ = is_first ? time : std::min(first_, time);
  last_ = is_first ? time : std::max(last_, time);

  records_.put(static_cast<std::uint8_t>(opcode::message));
  records_.put(static_cast<std::uint64_t>(message_head + s.data.size()));
  records_.put(number_in_file(s.channel));
  records_.put(static_cast<std::uint32_t>(s.sequence));
  records_.put(time);
  records_.put(to_mcap_time(s.stamp_ns) + s.stamp_excess_ns);
}

void mcap_chunk::add(const sample& s) {
  put_head(s);
  records_.put_bytes(s.data);
}

void mcap_chunk::add_head(const sample& s) { put_head(s); }

void mcap_chunk::put_index(channel_id which, byte_buffer& to) const {
  const auto& places = places_[which];
  const std::size_t at = begin_record(to, opcode::message_index);
  to.put(number_in_file(which));
  to.put(static_cast<std::uint32_t>(places.size() * 16));
  for (const auto& each : places) {
    to.put(each.time);
    to.put(each.offset);
  }
  end_record(to, at);
}

void mcap_chunk::clear() noexcept {
  records_.clear();
  for (const channel_id which : channels_) places_[which].clear();
  channels_.clear();
}

}  // namespace orc::recording::detail
