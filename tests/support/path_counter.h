// What the calls of one thread cost beyond computing: system calls, allocations, mutexes without priority inheritance,
// page faults.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "support/forked.h"

namespace orc::test {

struct path_costs {
  std::uint64_t system_calls = 0;
  std::uint64_t allocations = 0;  // malloc and its like, also by libzmq and libstdc++
  std::uint64_t plain_locks = 0;  // pthread_mutex_lock, also by libzmq
  std::uint64_t page_faults = 0;

  path_costs& operator+=(const path_costs& more) {
    system_calls += more.system_calls;
    allocations += more.allocations;
    plain_locks += more.plain_locks;
    page_faults += more.page_faults;
    return *this;
  }
};

// Of the calling thread, which makes all calls. A child traces it (ptrace) to count its system calls. Without effect
// under sanitizers, which have a malloc of their own.
class path_counter {
 public:
  path_counter();
  ~path_counter();
  path_counter(const path_counter&) = delete;
  path_counter& operator=(const path_counter&) = delete;

  // False: this system forbids it.
  [[nodiscard]] bool counts() const { return shared_->state == phase::tracing; }
  // What body() costs.
  template <class Body>
  [[nodiscard]] path_costs of(Body body) {
    const path_costs before = begin();
    body();
    return end(before);
  }

 private:
  enum class phase { starting, tracing, refused };
  struct with_child {
    std::atomic<phase> state{phase::starting};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> system_calls{0};
  };
  void trace(pid_t thread) const;
  [[nodiscard]] path_costs begin() const;
  [[nodiscard]] path_costs end(const path_costs& before) const;

  shared_with_children<with_child> shared_;
  pid_t child_ = -1;
};

}  // namespace orc::test
