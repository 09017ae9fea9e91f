// Limits how many messages a client may send.
#pragma once

#include <algorithm>
#include <chrono>

namespace orc::web {

// A thread at a time.
class message_allowance {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr double per_second = 200;
  static constexpr double at_once = 400;  // a page that comes back opens all that it had

  // Takes one message. False: it is too much.
  [[nodiscard]] bool take(clock::time_point now) noexcept {
    if (last_ != clock::time_point()) {
      const std::chrono::duration<double> passed = now - last_;
      left_ = std::min(at_once, left_ + passed.count() * per_second);
    }
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double left_ = at_once;
  clock::time_point last_ = {};
};

}  // namespace orc::web
