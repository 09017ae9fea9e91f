// Limits how many messages a client may send, and their bytes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace orc::web {

// What a client may send. The protocol decides.
struct message_limits {
  std::size_t message_bytes = std::size_t{64} << 10;
  double per_second = 200;
  double at_once = 400;  // a page that comes back opens all that it had
  double bytes_per_second = 256 << 10;
  double bytes_at_once = 1 << 20;
};

// A thread at a time.
class message_allowance {
 public:
  using clock = std::chrono::steady_clock;

  explicit message_allowance(const message_limits& limits = {}) noexcept : limits_(limits) {}

  // Takes one message of this size. False: it is too much.
  [[nodiscard]] bool take(std::size_t bytes, clock::time_point now) noexcept {
    if (last_ != clock::time_point()) {
      const std::chrono::duration<double> passed = now - last_;
      left_ = std::min(limits_.at_once, left_ + passed.count() * limits_.per_second);
      bytes_left_ = std::min(limits_.bytes_at_once, bytes_left_ + passed.count() * limits_.bytes_per_second);
    }
    last_ = now;
    if (left_ < 1 || bytes_left_ < static_cast<double>(bytes)) return false;
    left_ -= 1;
    bytes_left_ -= static_cast<double>(bytes);
    return true;
  }

 private:
  const message_limits limits_;
  double left_ = limits_.at_once;
  double bytes_left_ = limits_.bytes_at_once;
  clock::time_point last_ = {};
};

}  // namespace orc::web
