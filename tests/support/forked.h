// A child made by fork alone, for tests that start and kill thousands: no program to load. It may use liborc as long as
// its parent has no participant and no thread. And memory that both see, which outlives the child.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace orc::test {

class forked {
 public:
  // Runs body() in a child, which ends with it, or with its parent.
  template <class Body>
  explicit forked(Body body) {
    pid_ = fork_from(::getpid());
    if (pid_ != 0) return;
    try {
      body();
    } catch (...) {
      ::_exit(126);
    }
    ::_exit(0);
  }
  ~forked() { (void)kill(); }
  forked(forked&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  forked& operator=(forked&& other) noexcept {
    if (this != &other) {
      (void)kill();
      pid_ = std::exchange(other.pid_, -1);
    }
    return *this;
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  // SIGKILL, and reaped when this returns. False: it had ended by itself.
  [[nodiscard]] bool kill() {
    if (pid_ <= 0) return true;
    ::kill(pid_, SIGKILL);
    return ended_by(SIGKILL);
  }
  // Until it ends by itself.
  void wait() { (void)ended_by(0); }

 private:
  static pid_t fork_from(pid_t parent);
  bool ended_by(int number);

  pid_t pid_ = -1;
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
