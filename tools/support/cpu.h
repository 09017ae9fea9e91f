// Where the two ends of a measurement run. Unpinned, the scheduler may pack both ends onto one core, which flatters
// or spoils a round trip at random; so the benchmarks pin one end to each of two cores.
#pragma once

#include <sched.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace orc::bench {

inline constexpr int no_cpu = -1;

struct cpu_pair {
  int first = no_cpu;   // the measuring end
  int second = no_cpu;  // the other end
};

inline std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// The first two allowed cores; none if there is only one.
inline cpu_pair default_cpus() {
  const std::vector<int> cpus = allowed_cpus();
  return cpus.size() < 2 ? cpu_pair{} : cpu_pair{cpus[0], cpus[1]};
}

// "0,1" or "none".
inline std::optional<cpu_pair> parse_cpus(std::string_view text) {
  if (text == "none") return cpu_pair{};
  cpu_pair cpus;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, cpus.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, cpus.second);
  if (second.ec != std::errc() || second.ptr != end || cpus.first < 0 || cpus.second < 0) return std::nullopt;
  return cpus;
}

// Pins the calling thread, and with it every thread it starts from now on: libzmq's I/O threads stay with their end.
// False when the core does not exist or is not allowed; no_cpu is always fine.
inline bool pin_this_thread(int cpu) noexcept {
  if (cpu == no_cpu) return true;
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// Whether a thread of this process can be pinned there. Isolated CPUs (isolcpus) are not among allowed_cpus(), because
// nothing runs there unasked.
inline bool can_pin_to(int cpu) {
  bool pinned = false;
  std::thread([&] { pinned = pin_this_thread(cpu); }).join();
  return pinned;
}

}  // namespace orc::bench
