// Limits how many messages a client may send, and their bytes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace orc::web {

// A thread at a time.
class message_allowance {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr double per_second = 200;
  static constexpr double at_once = 400;  // a page that comes back opens all that it had
  static constexpr double bytes_per_second = 256 << 10;
  static constexpr double bytes_at_once = 1 << 20;

  // Takes one message of this size. False: it is too much.
  [[nodiscard]] bool take(std::size_t bytes, clock::time_point now) noexcept {
    if (last_ != clock::time_point()) {
      const std::chrono::duration<double> passed = now - last_;
      left_ = std::min(at_once, left_ + passed.count() * per_second);
      bytes_left_ = std::min(bytes_at_once, bytes_left_ + passed.count() * bytes_per_second);
    }
    last_ = now;
    if (left_ < 1 || bytes_left_ < static_cast<double>(bytes)) return false;
    left_ -= 1;
    bytes_left_ -= static_cast<double>(bytes);
    return true;
  }

 private:
  double left_ = at_once;
  double bytes_left_ = bytes_at_once;
  clock::time_point last_ = {};
};

}  // namespace orc::web
