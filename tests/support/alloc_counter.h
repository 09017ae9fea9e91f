// Counts calls of operator new by the current thread while it lives, except those that libzmq makes for itself.
// Without effect under sanitizers, which bring an operator new of their own: counts() tells.
#pragma once

#include <cstddef>

namespace orc::test {

class alloc_counter {
 public:
  alloc_counter();
  ~alloc_counter();
  alloc_counter(const alloc_counter&) = delete;
  alloc_counter& operator=(const alloc_counter&) = delete;

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] static bool counts();
};

// While it lives, the current thread's calls of operator new fail after the first `good` ones. Without effect where
// alloc_counter::counts() is false.
class alloc_failure {
 public:
  explicit alloc_failure(std::size_t good);
  ~alloc_failure();
  alloc_failure(const alloc_failure&) = delete;
  alloc_failure& operator=(const alloc_failure&) = delete;
};

}  // namespace orc::test
