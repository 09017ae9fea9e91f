#include "base/threads/thread_id.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/fork_generation.h"

namespace orc::detail {

constinit thread_local std::uint32_t known_thread_id = 0;

std::uint32_t ask_for_thread_id() noexcept {
  count_forks();  // the child of a fork forgets the number
  return known_thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

}  // namespace orc::detail
