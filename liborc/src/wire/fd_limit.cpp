#include "wire/fd_limit.h"

#include <dirent.h>
#include <sys/resource.h>

#include <cerrno>

namespace orc::detail {

bool room_for_fds(std::size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return errno != EMFILE && errno != ENFILE;
  std::size_t used = 0;
  while (readdir(directory) != nullptr) ++used;  // counts ".", ".." and its own fd too: on the safe side
  closedir(directory);
  return used + count <= limit.rlim_cur;
}

void raise_fd_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // refused: the old limit still holds
}

}  // namespace orc::detail
