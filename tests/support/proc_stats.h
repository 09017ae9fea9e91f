// What a process costs right now, from /proc.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace orc::test {

struct proc_stats {
  std::size_t rss_kib = 0;
  std::size_t fds = 0;
  std::size_t threads = 0;
  std::size_t own_kib = 0;     // of rss_kib what is not shared and not a file
  std::size_t shm_mapped = 0;  // mappings of ORC's shared memory
  std::size_t shm_fds = 0;     // and descriptors of it
};

[[nodiscard]] proc_stats stats_of(pid_t pid = ::getpid());

}  // namespace orc::test
