#include "support/forked.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace orc::test {

namespace {

bool in_child = false;

}  // namespace

pid_t forked::fork_from(pid_t parent) {
  std::fflush(nullptr);  // what is buffered is the parent's to write
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid != 0) return pid;
  in_child = true;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  return 0;
}

bool forked::ended_by(int number) {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

}  // namespace orc::test

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer reports and goes on, and says at the end of the process that something was wrong. A child that is
// killed would never get there.
extern "C" void __tsan_on_report(void*);
extern "C" void __tsan_on_report(void*) {
  if (orc::test::in_child) ::_exit(66);
}
#endif
