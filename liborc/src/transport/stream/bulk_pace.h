// The rate of a bulk topic's tcp connection (orc::priority): as much as the path takes without a queue.
//
// A congestion control fills the path's queue until it drops (or, BBR, for a moment in each round), and a small topic
// waits behind it. So the delay that the connection causes limits its rate, as LEDBAT does (RFC 6817): when the round
// trip exceeds the shortest one of the last seconds, the rate goes below what was delivered until the queue is empty.
// The kernel paces (SO_MAX_PACING_RATE), under any congestion control.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "transport/stream/bulk_share.h"

namespace orc::detail {

// The kernel's view of a connection.
struct path_sample {
  std::uint64_t acknowledged = 0;  // bytes, since it began
  std::chrono::microseconds round_trip{0};
  std::chrono::microseconds variation{0};  // of the round trip
  std::uint32_t in_flight = 0;             // segments
};

// Decides the rate. Whatever the peer pretends, the rate stays within [slowest, fastest], and concerns its own
// connection only. Not thread-safe.
class bulk_rate {
 public:
  static constexpr std::uint64_t slowest = 128 * 1024;  // bytes per second
  static constexpr std::uint64_t fastest = std::uint64_t{4} << 30;
  static constexpr std::uint64_t first = 1024 * 1024;

  [[nodiscard]] std::uint64_t rate() const noexcept { return rate_; }
  // Goes on with this rate. `acknowledged`: as of path_sample.
  void go_on(std::uint64_t rate, std::uint64_t acknowledged, monotonic::time_point now) noexcept;
  // When the next sample of the path is useful.
  [[nodiscard]] monotonic::time_point next() const noexcept { return next_; }
  void take(const path_sample& now_is, monotonic::time_point now) noexcept;

 private:
  void remember(std::chrono::microseconds round_trip, monotonic::time_point now) noexcept;
  void set(std::uint64_t rate) noexcept;

  std::uint64_t rate_ = first;
  std::uint64_t ceiling_ = 0;  // the rate that last caused a queue; 0: none has
  std::uint64_t after_drain_ = 0;
  bool suspected_ = false;  // the last sample suggests a queue
  bool draining_ = false;
  std::chrono::microseconds delay_{0};
  monotonic::time_point drain_until_{};
  std::uint64_t acknowledged_ = 0;
  monotonic::time_point taken_{};
  // The shortest round trips of this period and the one before, so that a longer path counts after a while.
  std::array<std::chrono::microseconds, 2> shortest_{std::chrono::microseconds::max(),
                                                     std::chrono::microseconds::max()};
  monotonic::time_point period_ends_{};
  monotonic::time_point next_{};
};

// Applies it to a connection while the path is fast, and the share while it is slow. Not thread-safe.
class bulk_pace {
 public:
  bulk_pace() = default;
  bulk_pace(const bulk_pace&) = delete;
  bulk_pace& operator=(const bulk_pace&) = delete;
  // Before the descriptor is closed.
  ~bulk_pace();

  // Call it before anything is sent. Throws std::bad_alloc.
  void begin(int fd);
  // Call it before each send. Returns the bytes that may go to the kernel now; 0: not now, see pause(). Asks the kernel
  // at most every 10 ms while the path is fast. `waits`: there is more to send than it could so far.
  [[nodiscard]] std::size_t adjust(bool waits) noexcept;
  // True: what waits shall not wait for room in the kernel, but call adjust() after pause().
  [[nodiscard]] bool takes_turns() const noexcept { return share_ && !share_->is_fast(); }
  [[nodiscard]] std::chrono::microseconds pause() const noexcept { return share_->pause(); }
  // Bytes to give to the kernel at a time: about 1 ms of the rate. On short paths Linux sends each piece in one burst,
  // whatever the rate (net.ipv4.tcp_tso_rtt_log). An even number of segments, because a peer acknowledges two at once,
  // and one alone after up to 40 ms, which would look like a queue.
  [[nodiscard]] std::size_t piece() const noexcept {
    const std::size_t two = 2 * segment_;
    return std::max(static_cast<std::size_t>(applied_ / 1000) / two, std::size_t{1}) * two;
  }

 private:
  void apply(std::uint64_t rate) noexcept;

  std::shared_ptr<bulk_share> share_;
  bulk_share::member member_;
  bulk_rate rate_;
  bool took_turns_ = true;
  std::uint64_t limited_by_reader_ = 0;  // microseconds
  std::uint64_t applied_ = 0;
  monotonic::time_point asked_{};
  int unsent_ = 0;  // bytes that may wait in the kernel
  std::size_t segment_ = 1448;
};

}  // namespace orc::detail
