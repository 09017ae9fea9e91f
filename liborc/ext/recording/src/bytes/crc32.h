// The CRC of zlib and of MCAP: polynomial 0xEDB88320.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orc::recording::detail {

// Continues `before`, which is 0 at the start.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

}  // namespace orc::recording::detail
