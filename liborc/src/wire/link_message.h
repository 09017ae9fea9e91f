// The messages besides samples between the two ends of an ipc or tcp link: 16-byte sample header with sequence 0, then
// 56 bytes. schemas/PROTOCOL.md, "Samples", states the order of events.
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
  hello = 1,    // subscription to publication: asks for samples; repeated when the connection is new
  welcome = 2,  // publication to subscription: samples follow
  refused = 3,  // publication to subscription: it is another publication, or full
  goodbye = 4   // subscription to publication: wants no more samples
};

struct link_message {
  static constexpr std::size_t bytes = sample_header::bytes + 56;

  link_kind kind = link_kind::hello;
  id publication;
  id subscription;
  // Hello: a secret of the two ends. It proves that two connections are the same subscription's. 0: no proof.
  std::uint64_t secret = 0;
  std::uint32_t depth = 0;          // hello: 0 newest wins, else in order, and this many samples are kept
  bool takes_padding = false;       // hello: it allows padding in front of each large sample
  std::uint64_t last_sequence = 0;  // welcome: of the newest sample so far; hello: of the newest received
};

[[nodiscard]] std::array<std::byte, link_message::bytes> encode(const link_message& message) noexcept;

// `frame` includes the sample header. Returns nothing for anything but a link message of this version.
[[nodiscard]] std::optional<link_message> decode_link_message(std::span<const std::byte> frame) noexcept;

}  // namespace orc::wire
