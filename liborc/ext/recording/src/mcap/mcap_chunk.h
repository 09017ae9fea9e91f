// One chunk in the making: its messages, and for each channel where they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_buffer.h"
#include "orc/recording/sample.h"

namespace orc::recording::detail {

class mcap_chunk {
 public:
  // Records of schemas and channels go here; before the messages that need them.
  [[nodiscard]] byte_buffer& records() noexcept { return records_; }
  // Adds the whole message, or its head alone: then its data is to follow the records in the file.
  void add(const sample& s);
  void add_head(const sample& s);

  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] bool has_messages() const noexcept { return !channels_.empty(); }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  // The channels that have messages here, and how many.
  [[nodiscard]] std::span<const channel_id> channels() const noexcept { return channels_; }
  [[nodiscard]] std::uint64_t count_of(channel_id which) const noexcept { return places_[which].size(); }
  // Appends the message index record of one of these channels.
  void put_index(channel_id which, byte_buffer& to) const;
  void clear() noexcept;

 private:
  struct place {
    std::uint64_t time;
    std::uint64_t offset;
  };
  void put_head(const sample& s);

  byte_buffer records_;
  std::vector<channel_id> channels_;
  std::vector<std::vector<place>> places_;  // by channel
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

// Our channels count from 0; in the file they count from 1, as those of most writers.
[[nodiscard]] constexpr std::uint16_t number_in_file(channel_id which) noexcept {
  return static_cast<std::uint16_t>(which + 1);
}

}  // namespace orc::recording::detail
