// The 16 bytes in front of every sample on ipc and tcp:
// u64 sequence, i64 publish time in ns of CLOCK_REALTIME, both little-endian. schemas/PROTOCOL.md, "Samples".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace orc::wire {

struct sample_header {
  static constexpr std::size_t bytes = 16;
  std::uint64_t sequence = 0;  // 1, 2, 3…; 0 marks a link message (hello, welcome), not a sample
  std::int64_t stamp_ns = 0;
};

static_assert(std::endian::native == std::endian::little, "the sample header is little-endian");

inline void put(const sample_header& header, std::byte* at) noexcept {
  std::memcpy(at, &header.sequence, 8);
  std::memcpy(at + 8, &header.stamp_ns, 8);
}

[[nodiscard]] inline sample_header get(const std::byte* at) noexcept {
  sample_header header;
  std::memcpy(&header.sequence, at, 8);
  std::memcpy(&header.stamp_ns, at + 8, 8);
  return header;
}

}  // namespace orc::wire
