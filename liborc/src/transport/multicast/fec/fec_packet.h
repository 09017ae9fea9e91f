// The datagram of a message with forward error correction. It is not LCM's format: LCM programs look at the magic
// number and ignore it. Big-endian, as are LCM's headers:
//
//   offset  bytes
//        0      4  magic 0x4f524346, "ORCF"
//        4      1  version, 1
//        5      1  c: bytes of the channel's name, 1…63
//        6      2  bytes of a shard, 1…65535
//        8      4  bytes of the message, 0…
//       12      8  sequence of the sample
//       20      8  stamp_ns of the sample (signed)
//       28      2  blocks of the message
//       30      2  block: which one this shard belongs to, from 0
//       32      1  k: data shards of this block
//       33      1  m: parity shards of this block
//       34      1  shard: 0…k-1 data, k…k+m-1 parity
//       35      1  reserved, 0
//       36      c  the channel's name, no byte of it 0
//     36+c         the shard, to the end of the datagram: fec_plan::sent_bytes. A data shard is a piece of the message
//                  and nothing else, so the last one of a message is shorter than the others; for the parity it counts
//                  as filled up with zeros.
//
// fec_plan.h assigns pieces of the message to data shards. fec_code.h defines parity shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/fec/fec_plan.h"

namespace orc::detail::multicast {

struct fec_packet {
  static constexpr std::uint32_t magic = 0x4f524346;
  static constexpr std::size_t fixed_bytes = 36;
  static constexpr std::size_t max_header_bytes = fixed_bytes + lcm::max_channel_length;

  std::string_view channel;
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  fec_plan plan;
  std::uint16_t block = 0;
  std::uint8_t shard = 0;
  std::span<const std::byte> bytes;  // of the shard

  [[nodiscard]] bool is_parity() const noexcept { return shard >= plan.data_shards(block); }
};

// Writes everything before the shard, and returns its size. `into`: max_header_bytes are always enough. The packet
// must be one that decode_fec() would accept; its `bytes` are not used.
std::size_t encode_header(const fec_packet& packet, std::span<std::byte> into) noexcept;

// `channel` and `bytes` point into the datagram. Empty when it contradicts itself. Every number in a packet is then
// safe to compute with, whoever sent it. It may still be false, and its message as large as 4 GB.
[[nodiscard]] std::optional<fec_packet> decode_fec(std::span<const std::byte> datagram) noexcept;

}  // namespace orc::detail::multicast
