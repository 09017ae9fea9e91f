// LCM's UDP multicast wire format: one message in one datagram (LC02), or in fragments (LC03). Integers are big-endian.
//
//   LC02: u32 magic, u32 message number, channel, NUL, payload
//   LC03: u32 magic, u32 message number, u32 payload size of the message, u32 offset of this fragment in it,
//         u16 number of this fragment, u16 fragments in the message; fragment 0 goes on with channel, NUL; then payload
//
// Source: LCM's published protocol description, and Huang, Olson, Moore: LCM, section 3.3. schemas/PROTOCOL.md,
// "Multicast". Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transport/multicast/datagram/datagram_head.h"

namespace orc::detail::lcm {

inline constexpr std::uint32_t magic_single = 0x4c433032;    // "LC02"
inline constexpr std::uint32_t magic_fragment = 0x4c433033;  // "LC03"
inline constexpr std::size_t single_header = 8;
inline constexpr std::size_t fragment_header = 20;
inline constexpr std::size_t max_channel_length = 63;
inline constexpr std::size_t max_fragments = 65535;

// A received datagram. Spans and views point into it.
struct datagram {
  std::uint32_t number = 0;            // of the message, modulo 2^32, counted by the sender
  std::uint32_t size = 0;              // payload bytes of the whole message
  std::uint32_t offset = 0;            // of `payload` in it
  std::uint16_t fragment = 0;          // index of this one
  std::uint16_t fragments = 1;         // how many the message has
  std::string_view channel = {};       // empty, except in the first fragment
  std::span<const std::byte> payload;  // of this datagram
};

// Empty when it is not LCM's, or contradicts itself.
[[nodiscard]] std::optional<datagram> decode(std::span<const std::byte> bytes) noexcept;

// Cuts a message into datagrams of at most `max_bytes`.
class layout {
 public:
  layout(std::size_t channel_size, std::size_t message_size, std::size_t max_bytes) noexcept;

  // 0: it would need more fragments, or is longer, than LCM's format allows.
  [[nodiscard]] std::size_t datagrams() const noexcept { return datagrams_; }
  // The largest message that has a layout.
  [[nodiscard]] static std::size_t largest(std::size_t channel_size, std::size_t max_bytes) noexcept;
  // The part of the payload that goes into datagram i.
  struct part {
    std::size_t offset;
    std::size_t size;
  };
  [[nodiscard]] part payload_of(std::size_t i) const noexcept;

 private:
  std::size_t size_;
  std::size_t first_ = 0;    // payload bytes of the first datagram
  std::size_t further_ = 0;  // and of each further one but the last
  std::size_t datagrams_ = 0;
};

// The bytes in front of the payload of datagram i: the header, and in the first one the channel with its NUL.
void write_head(multicast::datagram_head& to, const layout& cut, std::size_t i, std::uint32_t number,
                std::size_t message_size, std::string_view channel) noexcept;

}  // namespace orc::detail::lcm
