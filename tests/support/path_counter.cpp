#include "support/path_counter.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "support/budget.h"
#include "support/wait_until.h"

namespace {

thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t plain_locks = 0;

}  // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// glibc's own, which free() fits to.
extern "C" {
void* libc_malloc(std::size_t size) asm("__libc_malloc");
void* libc_calloc(std::size_t count, std::size_t size) asm("__libc_calloc");
void* libc_realloc(void* memory, std::size_t size) asm("__libc_realloc");
void* libc_memalign(std::size_t alignment, std::size_t size) asm("__libc_memalign");

void* malloc(std::size_t size) {
  ++allocations;
  return libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  ++allocations;
  return libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++allocations;
  *memory = libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto real = reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++plain_locks;
  return real(mutex);
}
}

#endif

namespace orc::test {

path_counter::path_counter() {
  if (under_sanitizer) {
    shared_->state = phase::refused;
    return;
  }
  const auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  child_ = ::fork();
  if (child_ == 0) {
    trace(thread);
    ::_exit(0);
  }
  ::prctl(PR_SET_PTRACER, child_, 0, 0, 0);
  (void)wait_until([this] { return shared_->state != phase::starting; });
}

path_counter::~path_counter() {
  if (child_ < 0) return;
  shared_->stop = true;
  ::syscall(SYS_getppid);  // wakes the child
  int status = 0;
  if (!wait_until([&] { return ::waitpid(child_, &status, WNOHANG) == child_; })) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &status, 0);
  }
}

// In the child of a process with threads: nothing but system calls.
void path_counter::trace(pid_t thread) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool seized = false;
  for (int attempt = 0; !seized && attempt < 1000; ++attempt) {
    seized = ::ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) == 0;
    if (!seized) ::usleep(1000);  // PR_SET_PTRACER may be on its way
  }
  int status = 0;
  if (!seized || ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 ||
      ::waitpid(thread, &status, __WALL) != thread) {
    shared_->state = phase::refused;
    return;
  }
  shared_->state = phase::tracing;
  long signal = 0;
  while (!shared_->stop) {
    if (::ptrace(PTRACE_SYSCALL, thread, nullptr, signal) != 0 || ::waitpid(thread, &status, __WALL) != thread ||
        !WIFSTOPPED(status))
      return;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    signal = at_call || status >> 16 != 0 ? 0 : WSTOPSIG(status);
    if (!at_call) continue;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY)
      ++shared_->system_calls;
  }
  ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
}

path_costs path_counter::begin() const {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return {.system_calls = shared_->system_calls,
          .allocations = allocations,
          .plain_locks = plain_locks,
          .page_faults = static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt)};
}

path_costs path_counter::end(const path_costs& before) const {
  path_costs now{.system_calls = shared_->system_calls, .allocations = allocations, .plain_locks = plain_locks};
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  now.page_faults = static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt);
  return {.system_calls = now.system_calls - before.system_calls,
          .allocations = now.allocations - before.allocations,
          .plain_locks = now.plain_locks - before.plain_locks,
          .page_faults = now.page_faults - before.page_faults};
}

}  // namespace orc::test
