// A child made by fork alone, for tests that start and kill thousands: no program to load. It may use liborc as long as
// its parent has no participant and no thread. And memory that both see, which outlives the child.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <chrono>
#include <new>
#include <utility>

#include "base/process/child_process.h"

namespace orc::test {

class forked {
 public:
  // Runs body() in a child, which ends with it, or with its parent.
  template <class Body>
  explicit forked(Body body)
      : child_(detail::child_process::run([&] {
          is_copy();
          try {
            body();
          } catch (...) {
            return 126;
          }
          return 0;
        })) {}
  ~forked() { child_.kill(); }
  forked(forked&& other) noexcept = default;
  forked& operator=(forked&& other) noexcept {
    if (this != &other) {
      child_.kill();
      child_ = std::move(other.child_);
    }
    return *this;
  }

  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  // SIGKILL, and reaped when this returns. False: it had ended by itself.
  [[nodiscard]] bool kill() {
    child_.kill();
    const auto status = child_.status();
    return !status || (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
  }
  // Until it ends by itself.
  void wait() { (void)child_.wait(std::chrono::hours(1)); }

 private:
  static void is_copy();

  detail::child_process child_;
};

// A T of atomics, the same for this process and the children it makes from now on.
template <class T>
class shared_with_children {
 public:
  shared_with_children() {
    void* const at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    there_ = ::new (at) T;
  }
  ~shared_with_children() { ::munmap(there_, sizeof(T)); }
  shared_with_children(const shared_with_children&) = delete;
  shared_with_children& operator=(const shared_with_children&) = delete;

  [[nodiscard]] T* operator->() const { return there_; }
  [[nodiscard]] T& operator*() const { return *there_; }

 private:
  T* there_;
};

}  // namespace orc::test
