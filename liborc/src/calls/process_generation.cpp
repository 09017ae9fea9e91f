#include "calls/process_generation.h"

#include <pthread.h>

#include <atomic>

namespace orc::detail {

namespace {
std::atomic<unsigned> forks{0};
}

unsigned process_generation() noexcept {
  [[maybe_unused]] static const int counting = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace orc::detail
