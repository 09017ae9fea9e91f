// orc/realtime.h
#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "base/threads/thread_placement.h"
#include "orc/realtime.h"

namespace orc {

namespace {

constexpr const char* raise_the_limit =
    "; allow it with ulimit -l unlimited, with LimitMEMLOCK=infinity in the systemd unit, or with CAP_IPC_LOCK";

[[nodiscard]] std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void touch(volatile unsigned char* bytes, std::size_t count) noexcept {
  for (std::size_t at = 0; at < count; at += page_size()) bytes[at] = 0;
}

[[nodiscard]] std::size_t size_of_stack() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* from = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &from, &size) != 0) size = 0;
  pthread_attr_destroy(&attributes);
  return size;
}

// Not inlined: what it takes of the stack is given back.
[[gnu::noinline]] void touch_stack(std::size_t bytes) noexcept {
  auto* const taken = static_cast<unsigned char*>(alloca(bytes));
  touch(taken, bytes);
}

// Memory that is freed stays, and no allocation is a mapping of its own, which would be given back.
[[nodiscard]] result reserve_heap(std::size_t bytes) noexcept {
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_MMAP_MAX, 0);
  if (bytes == 0) return {};
  void* const taken = std::malloc(bytes);
  if (taken == nullptr) return errc::no_memory;
  touch(static_cast<unsigned char*>(taken), bytes);
  std::free(taken);
  return {};
}

}  // namespace

result lock_memory(const memory_lock_options& options) noexcept try {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    const bool forbidden = errno == EPERM || errno == ENOMEM;
    return {forbidden ? errc::no_permission : errc::system_error,
            "mlockall: " + std::generic_category().message(errno) + (forbidden ? raise_the_limit : "")};
  }
  touch_stack(std::min(options.stack_bytes, size_of_stack() / 2));
  return reserve_heap(options.heap_bytes);
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

result set_realtime(int priority, std::span<const int> cpus) noexcept try {
  if (priority < 0) return {errc::bad_argument, "priority is 1 to 99, or 0 for none"};
  return detail::place_thread(pthread_self(), priority, cpus, "priority", "cpus");
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

}  // namespace orc
