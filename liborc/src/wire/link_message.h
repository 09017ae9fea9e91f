// What the two ends of an ipc or tcp link say to each other besides samples: 16-byte sample header with sequence 0,
// then 56 bytes. schemas/PROTOCOL.md, "Samples", tells the order of events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/control.h"
#include "wire/sample_header.h"

namespace orc::wire {

enum class link_kind : std::uint8_t {
  hello = 1,    // subscription to publication: I want your samples; repeated when the connection is new
  welcome = 2,  // publication to subscription: you get them
  refused = 3,  // publication to subscription: I am not who you asked for, or I am full
  goodbye = 4   // subscription to publication: no more
};

struct link_message {
  static constexpr std::size_t bytes = sample_header::bytes + 56;

  link_kind kind = link_kind::hello;
  id publication;
  id subscription;
  // Hello: known to the two ends only; proves that a second connection is the same subscription's. 0: no such proof.
  std::uint64_t secret = 0;
  std::uint32_t depth = 0;          // hello: 0 newest wins, else in order with this many samples kept
  std::uint64_t last_sequence = 0;  // welcome: of the newest sample so far; hello: of the newest one received
};

[[nodiscard]] std::array<std::byte, link_message::bytes> encode(const link_message& message) noexcept;

// `frame` includes the sample header. Empty for anything that is not a link message of this version.
[[nodiscard]] std::optional<link_message> decode_link_message(std::span<const std::byte> frame) noexcept;

}  // namespace orc::wire
