#include "support/proc_stats.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace orc::test {

namespace {

// The directory that is being listed is itself an open file of a process that looks at itself; it is so every time.
std::size_t entries(const std::string& directory) {
  std::size_t n = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; it != end; it.increment(error)) ++n;
  return n;
}

}  // namespace

proc_stats stats_of(pid_t pid) {
  const std::string dir = "/proc/" + std::to_string(pid);
  proc_stats stats;
  std::ifstream statm(dir + "/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  stats.rss_kib = resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  stats.fds = entries(dir + "/fd");
  stats.threads = entries(dir + "/task");
  return stats;
}

}  // namespace orc::test
