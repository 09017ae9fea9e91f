// Samples in memory: a frame of [16-byte sample header][payload], shared by reference count between every link, the
// last-value cache and the messages that users hold. inproc, ipc and tcp all pass the same frame on. libzmq's messages
// keep the bytes: they count references, and have small ones inline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "orc/message.h"
#include "wire/sample_header.h"

namespace orc {

// What the public classes keep to themselves.
struct message_access {
  static detail::sample_buffer& buffer(message& m) noexcept { return m.buffer_; }
  static detail::sample_buffer& buffer(loan& l) noexcept { return l.buffer_; }
  // The message carries nothing any more.
  static void clear(message& m, errc why) noexcept {
    m.buffer_.reset();
    m.status_ = why;
  }
};

namespace detail {

// One sample on its way through the library.
struct sample {
  sample_buffer buffer;
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  std::uint32_t era = 0;           // of the subscription: counts the publications it has had
  std::uint64_t before_first = 0;  // and the sequence of that publication before the first one that was for it
};

// Memory for `payload_size` bytes behind a header that is still to be written. False when there is none.
[[nodiscard]] sample_buffer allocate_frame(std::size_t payload_size) noexcept;

// The bytes lie in a frame, not in a slot of shared memory.
[[nodiscard]] bool is_frame(const sample_buffer& buffer) noexcept;

// A second owner of the same bytes (a copy of them up to 17 bytes of payload, which libzmq keeps inline).
[[nodiscard]] sample_buffer share(sample_buffer& buffer) noexcept;

// One that may be kept for as long as one likes: slots of shared memory are few, so their bytes are copied, with the
// header. False when there is no memory.
[[nodiscard]] sample_buffer share_frame(sample_buffer& buffer) noexcept;

// Frame or slot: there is room for a header in front of the payload, and nobody else can see it yet.
[[nodiscard]] bool is_unique(sample_buffer& buffer) noexcept;

// Header and payload, which lie in one piece. The header is there to be written, or to be received into.
[[nodiscard]] inline std::span<std::byte> frame_of(sample_buffer& buffer) noexcept {
  return {buffer.payload() - wire::sample_header::bytes, buffer.size() + wire::sample_header::bytes};
}

// Writes the header in front of the payload. Only for a unique buffer.
void write_header(sample_buffer& buffer, const wire::sample_header& header) noexcept;

}  // namespace detail
}  // namespace orc
