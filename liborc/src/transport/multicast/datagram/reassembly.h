// Assembles messages that arrive in fragments: in any order, with duplicates, from several senders at a time. Bounded
// in messages, bytes and time. Pure: no I/O, the clock comes as an argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "transport/frame.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/datagram/source.h"

namespace orc::detail::multicast {

// The largest message that fits into so many bytes, with the record of its fragments.
[[nodiscard]] constexpr std::size_t largest_within(std::size_t bytes) noexcept {
  return bytes - std::min(bytes, std::size_t{65536} * 8);
}

// Not thread-safe.
class reassembly {
 public:
  static constexpr std::size_t max_messages = 32;
  static constexpr std::chrono::seconds longest{3};  // without a new fragment

  explicit reassembly(std::size_t max_bytes) : max_bytes_(max_bytes) { partials_.reserve(max_messages); }

  enum class outcome : std::uint8_t {
    more,       // kept; the message is not complete
    complete,   // `done` is filled
    duplicate,  // came before
    refused     // exceeds the whole budget, contradicts its message, or there is no memory
  };
  struct message {
    source from;
    std::uint32_t number = 0;
    sample_buffer buffer;       // a frame
    std::int64_t stamp_ns = 0;  // of its first datagram
  };
  // The first fragment names the channel. The caller must not pass fragments of other channels.
  [[nodiscard]] outcome add(const source& from, const lcm::datagram& d, std::int64_t stamp_ns,
                            monotonic::time_point now, message& done) noexcept;

  // The missing parts of a message, as far as its fragments are known: gaps for a report, with at most `most`
  // fragments. All of it when none has come.
  void missing(const source& from, std::uint32_t number, std::size_t most, orc_datagram& report) const noexcept;
  void forget(const source& from, std::uint32_t number) noexcept;
  // Drops messages of this sender with this number and older ones, because a newer one is complete.
  void forget_through(const source& from, std::uint32_t number) noexcept;
  // Drops messages without progress for too long.
  void expire(monotonic::time_point now) noexcept;

  [[nodiscard]] std::size_t messages() const noexcept { return partials_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  // How many messages were dropped incomplete.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

 private:
  struct extent {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;  // 0: unused
  };
  struct partial {
    message what;
    std::vector<extent> extents;  // one for each fragment
    std::size_t here = 0;         // fragments that have come
    std::size_t cost = 0;         // bytes
    monotonic::time_point moved;
  };

  [[nodiscard]] partial* find(const source& from, std::uint32_t number) noexcept;
  [[nodiscard]] partial* begin(const source& from, const lcm::datagram& d) noexcept;
  void drop(std::size_t index) noexcept;  // counts it as incomplete
  void remove(std::size_t index) noexcept;
  [[nodiscard]] static bool is_whole(const partial& p) noexcept;

  const std::size_t max_bytes_;
  std::vector<partial> partials_;
  std::vector<extent> spare_;  // memory of a completed message, for the next one
  std::size_t bytes_ = 0;
  std::uint64_t given_up_ = 0;
};

// Serial numbers that wrap: how far `a` is ahead of `b`.
[[nodiscard]] constexpr std::int32_t ahead(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace orc::detail::multicast
