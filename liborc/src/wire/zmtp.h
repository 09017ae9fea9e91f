// The part of ZMTP 3, the protocol of ZeroMQ sockets (rfc.zeromq.org/spec/23), that ORC needs: no security (mechanism
// NULL), sockets of type ROUTER and DEALER. zmtp/zmtp_connection.h speaks it (liborc/doc/design/zmtp.md), and any
// ZeroMQ socket can be the other end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orc::wire::zmtp {

inline constexpr std::size_t greeting_bytes = 64;

// The first bytes that either end sends.
[[nodiscard]] std::array<std::byte, greeting_bytes> greeting() noexcept;

// True while `start`, the first bytes of a peer's greeting (64 when complete), can be those of ZMTP 3 with mechanism
// NULL.
[[nodiscard]] bool acceptable_greeting(std::span<const std::byte> start) noexcept;

enum frame_flag : std::uint8_t {
  more = 1,        // more parts of the message follow
  long_size = 2,   // the size has 8 bytes, else 1
  command = 4,     // READY, PING, …: not for the user
  known_flags = 7  // any other is an error
};

inline constexpr std::size_t max_frame_header = 9;

struct frame_header {
  std::uint8_t flags = 0;
  std::size_t size = 0;         // of the body
  std::size_t header_size = 0;  // of the header itself: 2 or 9
};

struct header_bytes {
  std::array<std::byte, max_frame_header> bytes;
  std::size_t size;
};

[[nodiscard]] header_bytes encode_frame_header(std::size_t body_size, std::uint8_t flags = 0) noexcept;

// Returns the header at the start of `bytes`; empty: incomplete. Valid only with `flags` within known_flags.
[[nodiscard]] std::optional<frame_header> decode_frame_header(std::span<const std::byte> bytes) noexcept;

// Commands, as whole frames.
[[nodiscard]] std::string ready_frame(std::string_view socket_type);
[[nodiscard]] std::string ping_frame();  // without time to live and context
[[nodiscard]] std::string pong_frame(std::span<const std::byte> ping_body);
// A PONG that answers nothing: 7 bytes that each peer ignores.
inline constexpr std::array<std::uint8_t, 7> padding{command, 5, 4, 'P', 'O', 'N', 'G'};

// Returns the value of a property in the metadata of READY. Empty: missing or malformed.
[[nodiscard]] std::string_view property(std::span<const std::byte> metadata, std::string_view name) noexcept;

// Returns the name of a command: "READY", "PING", "ERROR"…; empty when there is none.
[[nodiscard]] std::string_view command_name(std::span<const std::byte> body) noexcept;

}  // namespace orc::wire::zmtp
