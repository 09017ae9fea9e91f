// A mutex with priority inheritance: while a thread waits for it, its owner runs with the priority of that thread.
// liborc/doc/design/real-time.md says why.
#pragma once

#include <pthread.h>

namespace orc::detail {

// Of one process, not recursive. Use it with std::lock_guard and std::unique_lock. It is for what a call meets. liborc
// has a faster one inside, for what a sample meets.
class inheriting_mutex {
 public:
  inheriting_mutex() noexcept {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex_, &kind);
    pthread_mutexattr_destroy(&kind);
  }
  ~inheriting_mutex() { pthread_mutex_destroy(&mutex_); }
  inheriting_mutex(const inheriting_mutex&) = delete;
  inheriting_mutex& operator=(const inheriting_mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  [[nodiscard]] bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace orc::detail
