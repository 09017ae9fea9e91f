#include "base/process/fork_generation.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "base/threads/thread_id.h"

namespace orc::detail {

namespace {

std::atomic<unsigned> generation{0};

void after_fork_in_child() {
  known_thread_id = 0;
  generation.fetch_add(1);
}

}  // namespace

void count_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
}

unsigned fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace orc::detail
