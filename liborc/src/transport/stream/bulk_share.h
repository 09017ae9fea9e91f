// What all bulk topics of this process may have on the way to one host. A rate cannot keep the queue of a slow link
// short: at 0.5 Mbit/s two packets are 48 ms. So while the path is slow, all bulk connections to a host share a window:
// one segment, or what the path takes in the shortest round trip and a little more. Each waits for its turn.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/threads/pi_mutex.h"
#include "transport/stream/stream_socket.h"

namespace orc::detail {

// Thread-safe.
class bulk_share {
 public:
  // One connection. Not thread-safe.
  struct member {
    int fd = -1;
    std::uint64_t acknowledged = 0;
    monotonic::time_point moved_at{};  // when it got on, or got its turn
    monotonic::time_point asked_at{};
    bool by_reader = false;  // its reader is slower than the path, and holds up nobody else
  };
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  // The one for this host.
  [[nodiscard]] static std::shared_ptr<bulk_share> with(const peer_id& peer);

  void join(member& who);
  // Before its descriptor is closed.
  void leave(member& who) noexcept;

  // True: the path is fast, so connections need not ask.
  [[nodiscard]] bool is_fast() const noexcept { return fast_.load(std::memory_order_relaxed); }
  // Bytes per second that the path took.
  [[nodiscard]] std::uint64_t rate() const noexcept { return rate_.load(std::memory_order_relaxed); }
  // When to ask again, if there was no turn.
  [[nodiscard]] std::chrono::microseconds pause() const noexcept {
    return std::chrono::microseconds(pause_us_.load(std::memory_order_relaxed));
  }
  // The bytes that this connection may give to the kernel now. 0: it is not its turn. `acknowledged`: bytes since it
  // began. `by_reader`: its reader took less than there was since it asked last. `waits`: it has more to send than it
  // could so far.
  [[nodiscard]] std::size_t ask(member& who, std::uint64_t acknowledged, std::chrono::microseconds shortest,
                                std::size_t segment, bool by_reader, bool waits, monotonic::time_point now) noexcept;

 private:
  void measure(std::chrono::microseconds shortest, std::size_t least, bool waits, monotonic::time_point now) noexcept;
  [[nodiscard]] std::size_t on_the_way(monotonic::time_point now) const noexcept;
  [[nodiscard]] bool is_first(const member& who, monotonic::time_point now) noexcept;

  pi_mutex mutex_;
  std::vector<member*> all_;
  std::vector<member*> waiting_;  // in the order of their turns; has room for all
  std::size_t window_ = 0;
  std::uint64_t acknowledged_ = 0;  // of all
  // The time in which the path takes one window.
  std::uint64_t round_from_ = 0;
  monotonic::time_point round_at_{};
  monotonic::time_point asked_at_{};
  monotonic::time_point full_until_{};  // nobody looks again before
  std::atomic<bool> fast_{false};
  std::atomic<std::uint64_t> rate_{0};
  std::atomic<std::int64_t> pause_us_{1000};
};

}  // namespace orc::detail
