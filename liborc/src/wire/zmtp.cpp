#include "wire/zmtp.h"

#include <algorithm>
#include <cstring>

namespace orc::wire::zmtp {

namespace {

constexpr std::size_t short_size_limit = 255;
constexpr std::size_t max_ping_context = 16;

// Signature, version 3.0, mechanism, as-server, filler.
constexpr std::size_t version_at = 10;
constexpr std::size_t mechanism_at = 12;
constexpr std::size_t mechanism_bytes = 20;
constexpr std::string_view mechanism = "NULL";

[[nodiscard]] std::string command_frame(std::string_view name, std::string_view rest) {
  std::string body;
  body += static_cast<char>(name.size());
  body += name;
  body += rest;
  const header_bytes header = encode_frame_header(body.size(), command);
  return std::string(reinterpret_cast<const char*>(header.bytes.data()), header.size) + body;
}

[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept {  // ZMTP ignores case here
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::array<std::byte, greeting_bytes> greeting() noexcept {
  std::array<std::byte, greeting_bytes> bytes{};
  bytes[0] = std::byte{0xff};
  bytes[8] = std::byte{1};  // where ZMTP 1 expects the length of an identity
  bytes[9] = std::byte{0x7f};
  bytes[version_at] = std::byte{3};
  std::memcpy(bytes.data() + mechanism_at, mechanism.data(), mechanism.size());
  return bytes;
}

bool acceptable_greeting(std::span<const std::byte> start) noexcept {
  const auto expected = greeting();
  for (std::size_t i = 0; i < std::min(start.size(), greeting_bytes); ++i) {
    if (i >= 1 && i <= 8) continue;     // filler of the signature
    if (i == version_at + 1) continue;  // minor version
    if (i >= mechanism_at + mechanism_bytes) continue;
    if (i == version_at ? start[i] < expected[i] : start[i] != expected[i]) return false;
  }
  return true;
}

header_bytes encode_frame_header(std::size_t body_size, std::uint8_t flags) noexcept {
  header_bytes header{};
  if (body_size <= short_size_limit) {
    header.bytes[0] = static_cast<std::byte>(flags);
    header.bytes[1] = static_cast<std::byte>(body_size);
    header.size = 2;
    return header;
  }
  header.bytes[0] = static_cast<std::byte>(flags | long_size);
  for (std::size_t i = 0; i < 8; ++i) header.bytes[8 - i] = static_cast<std::byte>(body_size >> (8 * i));
  header.size = max_frame_header;
  return header;
}

std::optional<frame_header> decode_frame_header(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < 2) return std::nullopt;
  frame_header header{static_cast<std::uint8_t>(bytes[0]), std::to_integer<std::size_t>(bytes[1]), 2};
  if ((header.flags & long_size) == 0) return header;
  if (bytes.size() < max_frame_header) return std::nullopt;
  header.size = 0;
  for (std::size_t i = 1; i < max_frame_header; ++i)
    header.size = (header.size << 8) | std::to_integer<std::size_t>(bytes[i]);
  header.header_size = max_frame_header;
  return header;
}

std::string ready_frame(std::string_view socket_type) {
  constexpr std::string_view property = "Socket-Type";
  std::string metadata;
  metadata += static_cast<char>(property.size());
  metadata += property;
  metadata += std::string(3, '\0');
  metadata += static_cast<char>(socket_type.size());
  metadata += socket_type;
  return command_frame("READY", metadata);
}

std::string ping_frame() { return command_frame("PING", std::string_view("\0\0", 2)); }

std::string pong_frame(std::span<const std::byte> ping_body) {
  constexpr std::size_t before_context = 1 + 4 + 2;  // name, time to live
  const std::size_t size = ping_body.size() > before_context ? ping_body.size() - before_context : 0;
  const auto context = ping_body.last(size).first(std::min(size, max_ping_context));
  return command_frame("PONG", {reinterpret_cast<const char*>(context.data()), context.size()});
}

// The metadata repeats: 1 byte size, name, 4 bytes size, value.
std::string_view property(std::span<const std::byte> metadata, std::string_view name) noexcept {
  std::string_view rest(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  while (!rest.empty()) {
    const auto name_size = static_cast<unsigned char>(rest[0]);
    if (rest.size() < 1 + std::size_t{name_size} + 4) return {};
    const auto found = rest.substr(1, name_size);
    rest.remove_prefix(1 + name_size);
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = (size << 8) | static_cast<unsigned char>(rest[i]);
    rest.remove_prefix(4);
    if (rest.size() < size) return {};
    if (same_name(found, name)) return rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return {};
}

std::string_view command_name(std::span<const std::byte> body) noexcept {
  if (body.empty()) return {};
  const auto size = std::to_integer<std::size_t>(body[0]);
  if (body.size() < 1 + size) return {};
  return {reinterpret_cast<const char*>(body.data() + 1), size};
}

}  // namespace orc::wire::zmtp
