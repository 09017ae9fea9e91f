// Events of an LCM log: a head of 28 bytes, big-endian, then the channel's name and the data. Source: LCM, eventlog.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orc::recording::detail {

inline constexpr std::uint32_t lcm_sync_word = 0xEDA1DA01;
inline constexpr std::size_t lcm_event_head = 28;
// liblcm refuses longer ones, and takes both lengths as signed numbers of 32 bits.
inline constexpr std::size_t max_lcm_channel = 999;
inline constexpr std::size_t max_lcm_data = INT32_MAX;

struct lcm_event_head_fields {
  std::uint32_t sync = lcm_sync_word;
  std::uint64_t number = 0;
  std::uint64_t time_us = 0;
  std::uint32_t channel_length = 0;
  std::uint32_t data_length = 0;

  [[nodiscard]] bool is_possible() const noexcept {
    return sync == lcm_sync_word && channel_length > 0 && channel_length <= max_lcm_channel &&
           data_length <= max_lcm_data;
  }
  [[nodiscard]] std::uint64_t event_length() const noexcept {
    return std::uint64_t{lcm_event_head} + channel_length + data_length;
  }
};

inline void put_lcm_head(const lcm_event_head_fields& head, std::span<std::byte, lcm_event_head> to) noexcept {
  std::size_t at = 0;
  const auto put = [&](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to[at++] = static_cast<std::byte>(value >> (8 * i));
  };
  put(head.sync, 4);
  put(head.number, 8);
  put(head.time_us, 8);
  put(head.channel_length, 4);
  put(head.data_length, 4);
}

[[nodiscard]] inline lcm_event_head_fields parse_lcm_head(std::span<const std::byte, lcm_event_head> from) noexcept {
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    std::uint64_t value = 0;
    while (bytes-- > 0) value = (value << 8) | std::to_integer<std::uint64_t>(from[at++]);
    return value;
  };
  lcm_event_head_fields head;
  head.sync = static_cast<std::uint32_t>(take(4));
  head.number = take(8);
  head.time_us = take(8);
  head.channel_length = static_cast<std::uint32_t>(take(4));
  head.data_length = static_cast<std::uint32_t>(take(4));
  return head;
}

}  // namespace orc::recording::detail
