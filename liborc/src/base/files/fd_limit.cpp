#include "base/files/fd_limit.h"

#include <dirent.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>

namespace orc::detail {

bool among_the_last_fds(int fd) noexcept {
  constexpr std::size_t reserve = 8;  // for the program, and for what must not fail
  return fd >= 0 && static_cast<std::size_t>(fd) + reserve >= fd_limit();
}

bool fds_are_scarce(int fd) noexcept {
  const std::size_t limit = fd_limit();
  return fd >= 0 && static_cast<std::size_t>(fd) >= limit - limit / 4;
}

std::size_t fd_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

bool room_for_fds(std::size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return errno != EMFILE && errno != ENFILE;
  std::size_t used = 0;
  while (readdir(directory) != nullptr) ++used;  // also counts ".", ".." and its own fd, which errs on the safe side
  closedir(directory);
  return used + count <= limit.rlim_cur;
}

void raise_fd_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // on failure the old limit holds
}

}  // namespace orc::detail
