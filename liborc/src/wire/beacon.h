// The datagram with which a broker says where it is: schemas/PROTOCOL.md, "Beacon". Bytes only, no I/O.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orc::wire {

struct beacon {
  std::uint64_t epoch = 0;  // of the broker's run
  std::uint16_t port = 0;   // tcp, at the address from which the datagram comes
  std::string domain;       // brokers of other domains ignore it
  bool operator==(const beacon&) const = default;
};

inline constexpr std::size_t max_domain = 63;
inline constexpr std::string_view beacon_magic = "ORCB";
inline constexpr std::uint8_t beacon_version = 1;
// Magic, version, length of the domain, port, epoch; then the domain. Integers are little-endian.
inline constexpr std::size_t beacon_header_bytes = 16;
inline constexpr std::size_t max_beacon_bytes = beacon_header_bytes + max_domain;

// Letters, digits, '-', '_' and '.': 1 to max_domain of them.
[[nodiscard]] inline bool is_domain(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_domain && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

[[nodiscard]] inline std::string encode(const beacon& from) {
  std::string bytes(beacon_magic);
  bytes += static_cast<char>(beacon_version);
  bytes += static_cast<char>(from.domain.size());
  for (int n = 0; n < 2; ++n) bytes += static_cast<char>((from.port >> (8 * n)) & 0xff);
  for (int n = 0; n < 8; ++n) bytes += static_cast<char>((from.epoch >> (8 * n)) & 0xff);
  return bytes + from.domain;
}

// Nothing: it is no beacon, or one of another version.
[[nodiscard]] inline std::optional<beacon> decode_beacon(std::span<const std::byte> datagram) {
  const std::string_view bytes(reinterpret_cast<const char*>(datagram.data()), datagram.size());
  const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at])); };
  if (bytes.size() < beacon_header_bytes || !bytes.starts_with(beacon_magic) || byte(4) != beacon_version)
    return std::nullopt;
  if (bytes.size() != beacon_header_bytes + byte(5)) return std::nullopt;
  beacon to;
  to.port = static_cast<std::uint16_t>(byte(6) | byte(7) << 8);
  for (std::size_t n = 0; n < 8; ++n) to.epoch |= byte(8 + n) << (8 * n);
  to.domain = bytes.substr(beacon_header_bytes);
  if (to.port == 0 || to.epoch == 0 || !is_domain(to.domain)) return std::nullopt;
  return to;
}

}  // namespace orc::wire
