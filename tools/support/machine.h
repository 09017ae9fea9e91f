// One line that says where the figures come from.
#pragma once

#include <sys/utsname.h>
#include <unistd.h>
#include <zmq.h>

#include <fstream>
#include <string>

#include "tools/support/cpu.h"

namespace orc::bench {

inline std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown cpu";
}

inline std::string machine_facts(const cpu_pair& cpus) {
  utsname system{};
  ::uname(&system);
  int major = 0;
  int minor = 0;
  int patch = 0;
  ::zmq_version(&major, &minor, &patch);
  const std::string pinned = cpus.first == no_cpu
                                 ? "not pinned"
                                 : "pinned to " + std::to_string(cpus.first) + "," + std::to_string(cpus.second);
  return std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " cpus (" + cpu_model() + "), " + pinned + ", " +
         system.sysname + " " + system.release + " " + system.machine + ", libzmq " + std::to_string(major) + "." +
         std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace orc::bench
