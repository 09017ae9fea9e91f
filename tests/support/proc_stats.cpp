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

std::size_t lines_with(const std::string& text, const std::string& file) {
  std::ifstream lines(file);
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line);) n += line.find(text) != std::string::npos ? 1u : 0u;
  return n;
}

std::size_t links_to(const std::string& text, const std::string& directory) {
  std::size_t n = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; it != end; it.increment(error)) {
    n += std::filesystem::read_symlink(it->path(), error).string().find(text) != std::string::npos ? 1u : 0u;
  }
  return n;
}

constexpr const char* shared_memory = "/memfd:orc";

}  // namespace

proc_stats stats_of(pid_t pid) {
  const std::string dir = "/proc/" + std::to_string(pid);
  proc_stats stats;
  std::ifstream statm(dir + "/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  statm >> total >> resident >> shared;
  const auto page_kib = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  stats.rss_kib = resident * page_kib;
  stats.own_kib = (resident - shared) * page_kib;
  stats.fds = entries(dir + "/fd");
  stats.threads = entries(dir + "/task");
  stats.shm_mapped = lines_with(shared_memory, dir + "/maps");
  stats.shm_fds = links_to(shared_memory, dir + "/fd");
  return stats;
}

}  // namespace orc::test
