// A received sample, and loaned memory for a sample to send.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "orc/result.h"
#include "orc/version.h"

namespace orc {

namespace detail {

// Owns the bytes of one sample, wherever they are (a libzmq frame, a slot of shared memory). Move-only. The 64 opaque
// bytes and the table of operations keep libzmq out of the public headers and the heap out of receive.
class ORC_API sample_buffer {
 public:
  struct operations {
    // Moves `from`, which is empty afterwards, to `to`, which is empty before. Null: storage() can be moved byte by
    // byte, and the payload is elsewhere.
    void (*move)(sample_buffer& to, sample_buffer& from) noexcept;
    void (*drop)(sample_buffer&) noexcept;
    std::byte* (*payload)(sample_buffer&) noexcept;
    // Makes `to`, which is empty, a second owner. Null: another process owns the bytes, so they can only be read.
    void (*share)(sample_buffer& to, sample_buffer& from) noexcept = nullptr;
  };

  sample_buffer() noexcept = default;
  sample_buffer(sample_buffer&& other) noexcept { take(other); }
  sample_buffer& operator=(sample_buffer&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~sample_buffer() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  [[nodiscard]] std::byte* payload() const noexcept { return payload_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void reset() noexcept;

  // For the transports.
  [[nodiscard]] const operations* kind() const noexcept { return operations_; }
  [[nodiscard]] void* storage() noexcept { return storage_; }
  void adopt(const operations* kind, std::size_t payload_size) noexcept {
    operations_ = kind;
    size_ = payload_size;
    payload_ = kind->payload(*this);
  }
  void adopt(const operations* kind, std::byte* payload, std::size_t payload_size) noexcept {
    operations_ = kind;
    size_ = payload_size;
    payload_ = payload;
  }

 private:
  void take(sample_buffer& other) noexcept;

  alignas(8) unsigned char storage_[64] = {};
  const operations* operations_ = nullptr;
  std::byte* payload_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace detail

// A received sample, or nothing and the reason. Move-only: a move moves the handle, never the bytes.
//
// The bytes stay valid and unchanged as long as the message lives, also after the topic was released. Over shm they are
// in the publisher's memory, aligned to 32 bytes. The publisher does not reuse that memory until the message is
// destroyed, so a subscription can hold at most request_options::max_messages of them. But a publisher that lies can
// still write there: where publishers over shm are not trusted, copy the bytes before you check and use them. Over
// other transports the bytes are not aligned in general, because libzmq hands out frames at odd offsets: read them with
// memcpy or copy_to. One message belongs to one thread at a time.
class [[nodiscard]] message {
 public:
  // No sample. For ORC itself: subscriber::recv makes messages.
  message() noexcept = default;
  explicit message(errc why) noexcept : state_(static_cast<std::uint32_t>(why)) {}
  message(detail::sample_buffer&& buffer, std::uint64_t sequence, std::int64_t stamp_ns, std::uint64_t missed) noexcept
      : buffer_(std::move(buffer)), sequence_(sequence), stamp_ns_(stamp_ns), missed_(missed), state_(0) {}

  // True when there is a sample. A sample may be empty: size() == 0.
  explicit operator bool() const noexcept { return status() == errc::ok; }

  // Returns errc::ok, or why there is no sample: nothing_new, timed_out, too_many_messages, not_requested,
  // bad_argument, closed, forked.
  [[nodiscard]] errc status() const noexcept { return static_cast<errc>(state_ & 0xff); }

  // The bytes of the sample, null when there is none.
  [[nodiscard]] const void* data() const noexcept { return buffer_.payload(); }
  // How many bytes the sample has; 0 when there is none.
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  // data() and size() in one.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {buffer_.payload(), buffer_.size()}; }

  // Copies at most `capacity` bytes of the sample to `to`. Returns how many it copied.
  ORC_API std::size_t copy_to(void* to, std::size_t capacity) const noexcept;

  // Counts the samples of one publication, from 1. A publisher that restarts begins at 1 again. On open multicast,
  // counts samples received on the channel, from any sender.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  // When the sample was sent: ns since the Unix epoch, on the sending host's CLOCK_REALTIME. Over multicast without
  // forward error correction: when it reached this host, because LCM's format carries no publish time. Repaired samples
  // carry the publish time.
  [[nodiscard]] std::int64_t stamp_ns() const noexcept { return stamp_ns_; }
  // stamp_ns() as a time of std::chrono.
  [[nodiscard]] std::chrono::sys_time<std::chrono::nanoseconds> stamp() const noexcept {
    return std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(stamp_ns_));
  }
  // Now minus stamp_ns(), in ns. Between hosts it is as accurate as their clocks agree, and may be negative.
  [[nodiscard]] ORC_API std::int64_t age_ns() const noexcept;
  // Samples of the same publication that were skipped since the previous one that this subscription returned. Also
  // counts samples of an earlier publication that the subscription received and then dropped. Always 0 for samples of
  // LCM programs, which number all their channels together.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }
  // Of a shared topic: the number of the publisher in this subscription, from 1. subscriber::publisher_of has its name.
  // sequence() and missed() count that publisher's samples. 0: the topic is not shared, or the process is replayed.
  [[nodiscard]] std::uint32_t publisher() const noexcept { return state_ >> 8; }

 private:
  friend struct message_access;
  detail::sample_buffer buffer_;
  std::uint64_t sequence_ = 0;
  std::int64_t stamp_ns_ = 0;
  std::uint64_t missed_ = 0;
  std::uint32_t state_ = static_cast<std::uint32_t>(errc::nothing_new);  // with the publisher << 8, for one store
};

// Memory for one sample: fill it in place, then send it (publisher::send, participant::send_msg). Destroying it sends
// nothing. On a topic with shm subscribers it is the memory that they will read. A topic can have four such loans at a
// time; further loans are copied when they are sent. Aligned to at least 8 bytes. One loan belongs to one thread at a
// time.
class [[nodiscard]] loan {
 public:
  // No memory. For ORC itself: publisher::loan makes loans.
  loan() noexcept = default;
  explicit loan(detail::sample_buffer&& buffer) noexcept : buffer_(std::move(buffer)) {}

  // False when there is no memory: see publisher::loan.
  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  // The memory to fill. Its content is undefined at first.
  [[nodiscard]] void* data() noexcept { return buffer_.payload(); }
  // How many bytes were asked for.
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  // data() and size() in one.
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {buffer_.payload(), buffer_.size()}; }

 private:
  friend struct message_access;
  detail::sample_buffer buffer_;
};

}  // namespace orc
