// Samples in memory: a frame of [room for a sample header][payload]. Every link, the last-value cache and the messages
// of users share it by reference count; inproc, ipc and tcp pass on the same frame. libzmq's messages hold the bytes:
// they count references, and hold small samples inline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "orc/message.h"
#include "wire/sample_header.h"

namespace orc {

// Access to the private parts of the public classes.
struct message_access {
  static detail::sample_buffer& buffer(message& m) noexcept { return m.buffer_; }
  static detail::sample_buffer& buffer(loan& l) noexcept { return l.buffer_; }
  // Empties the message and sets its status.
  static void clear(message& m, errc why) noexcept {
    m.buffer_.reset();
    m.state_ = static_cast<std::uint32_t>(why);
  }
  // Of a sample of a shared topic. `number`: at most max_publisher.
  static constexpr std::uint32_t max_publisher = 0xff'ffff;
  static void set_publisher(message& m, std::uint32_t number, std::uint64_t missed) noexcept {
    m.state_ = number << 8;
    m.missed_ = missed;
  }
};

namespace detail {

// One sample inside the library.
struct sample {
  sample_buffer buffer;
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  std::uint32_t era = 0;           // of the subscription: number of the publication, counted from its first
  std::uint64_t before_first = 0;  // sequence of that publication before the first sample for this subscription
  // Not null: the bytes are still in memory of the caller, or of a link. `buffer` is empty, or has room for them; see
  // fill().
  std::span<const std::byte> source = {};
};

// The payload, wherever it is.
[[nodiscard]] inline std::span<const std::byte> payload_of(const sample& s) noexcept {
  return s.source.data() != nullptr ? s.source : std::span<const std::byte>{s.buffer.payload(), s.buffer.size()};
}

// Copies the bytes of the source into the buffer, unless it has them already. Before anyone shares the buffer. False:
// no memory for a frame, and nothing changed.
[[nodiscard]] bool fill(sample& s) noexcept;

// A payload of at least this size begins at this offset in its page. With memory of callers, which begins a few
// multiples of 16 bytes into a page, and with the first bytes of a tcp stream's segment, it makes no slow copy
// (base/copy.h).
inline constexpr std::size_t large_frame = 32 * 1024;
inline constexpr std::size_t large_frame_offset = 2112;

// Allocates `payload_size` bytes behind space for a header. False when there is no memory.
[[nodiscard]] sample_buffer allocate_frame(std::size_t payload_size) noexcept;

// True: the bytes are in a frame, not in a slot of shared memory.
[[nodiscard]] bool is_frame(const sample_buffer& buffer) noexcept;

// Makes a second owner of the same bytes. Copies payloads of up to 17 bytes, which libzmq holds inline.
[[nodiscard]] sample_buffer share(sample_buffer& buffer) noexcept;

// Makes a second owner that may live for ever. Copies slots of shared memory, because they are few.
// False when there is no memory.
[[nodiscard]] sample_buffer share_frame(sample_buffer& buffer) noexcept;

// True: a frame without another owner.
[[nodiscard]] bool owns_alone(sample_buffer& buffer) noexcept;

// Header and payload, which are contiguous, to receive both at once.
[[nodiscard]] inline std::span<std::byte> frame_of(sample_buffer& buffer) noexcept {
  return {buffer.payload() - wire::sample_header::bytes, buffer.size() + wire::sample_header::bytes};
}

}  // namespace detail
}  // namespace orc
