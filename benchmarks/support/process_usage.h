// What a process has used, from /proc.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace orc::bench {

// User and system time so far, of all threads; 0 when the process is gone.
inline double cpu_seconds_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(after_name + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double utime = 0;
  double stime = 0;
  fields >> utime >> stime;
  return (utime + stime) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// A line of /proc/<pid>/status in MB: "VmRSS" is the memory now, "VmHWM" the most so far. 0: there is none.
inline double memory_mb_of(pid_t pid, const std::string& line_name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  const std::string start = line_name + ":";
  for (std::string line; std::getline(status, line);)
    if (line.rfind(start, 0) == 0) return std::stod(line.substr(start.size())) * 1024 / 1e6;
  return 0;
}

}  // namespace orc::bench
