// orc doctor --realtime: what a control loop needs of the machine.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_machine.h"

namespace orc::cli {

namespace {

constexpr rlim_t enough_priority = 80;  // of a control loop, above the kernel's interrupt threads

void check_kernel(const examine& add, const machine& from) {
  const std::string version = from.text("/proc/version").value_or("");
  if (from.number("/sys/kernel/realtime") == 1 || has(version, "PREEMPT_RT"))
    return add({severity::ok, "kernel", "PREEMPT_RT: each part of it can be interrupted", {}});
  add({severity::note,
       "kernel",
       "without PREEMPT_RT: a driver may hold up a loop of any priority for milliseconds",
       {as_root("apt install linux-image-rt-$(dpkg --print-architecture)") + " && " + as_root("reboot")}});
}

void check_virtual_machine(const examine& add, const machine& from) {
  const std::string info = from.text("/proc/cpuinfo").value_or("");
  const auto flags = info.find("\nflags");
  if (flags == std::string::npos || !has(info.substr(flags, info.find('\n', flags + 1) - flags), " hypervisor")) return;
  add({severity::note, "virtual machine", "its host may stop a CPU at any time, which no setting here prevents", {}});
}

void check_clock_source(const examine& add, const machine& from) {
  const std::string directory = "/sys/devices/system/clocksource/clocksource0/";
  const auto source = from.text(directory + "current_clocksource");
  if (!source || source->empty()) return add({severity::note, "clock source", "the kernel does not tell", {}});
  constexpr std::array fast{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  if (std::find(fast.begin(), fast.end(), *source) != fast.end())
    return add({severity::ok, "clock source", *source, {}});
  finding slow{severity::note, "clock source", *source + ": each look at the clock takes microseconds", {}};
  if (has(from.text(directory + "available_clocksource").value_or(""), "tsc"))
    slow.fixes = {"echo tsc | " + as_root("tee " + directory + "current_clocksource"), boot_with("clocksource=tsc")};
  add(std::move(slow));
}

void check_share(const examine& add, const machine& from) {
  const auto runtime = from.number("/proc/sys/kernel/sched_rt_runtime_us");
  const auto period = from.number("/proc/sys/kernel/sched_rt_period_us");
  if (!runtime || !period || *period <= 0) return;
  if (*runtime == 0)
    return add({severity::fail, "real-time share", "0 %: SCHED_FIFO is refused to everybody",
                set_kernel_parameter("kernel.sched_rt_runtime_us", "950000")});
  if (*runtime < 0 || *runtime >= *period)
    return add({severity::ok, "real-time share", "no limit: a loop that never sleeps takes its CPU for good", {}});
  const auto percent = 100.0 * static_cast<double>(*runtime) / static_cast<double>(*period);
  add({severity::ok,
       "real-time share",
       std::to_string(static_cast<int>(percent)) + " % of each " + std::to_string(*period / 1000) +
           " ms; a loop that takes more of its CPU is stopped for the rest",
       {}});
}

// With cgroups of version 1, each group has a share of its own, at first none.
void check_group(const examine& add, const machine& from) {
  std::istringstream groups(from.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (!has(controllers, ",cpu,")) continue;
    const std::string file = "/sys/fs/cgroup/cpu" + line.substr(second + 1) + "/cpu.rt_runtime_us";
    if (from.number(file) != 0) continue;
    add({severity::fail,
         "control group",
         "its real-time share is 0: SCHED_FIFO is refused here",
         {"echo 950000 | " + as_root("tee " + shell_word(file))}});
  }
}

void check_quota_of(const examine& add, const machine& from, const std::string& group) {
  const std::string file = "/sys/fs/cgroup" + group + "/cpu.max";
  std::istringstream limits(from.text(file).value_or(""));
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(limits >> quota >> period) || period < 1000) return;  // "max": none
  add({severity::note,
       "processor quota",
       "after " + std::to_string(quota / 1000) + " ms of processor time in " + std::to_string(period / 1000) +
           " ms the ordinary threads of this program are stopped; those with SCHED_FIFO are not",
       {"echo max | " + as_root("tee " + shell_word(file))}});
}

// With cgroups of version 2, as of a container or a unit with CPUQuota=. A quota is one of all groups inside, too.
void check_quota(const examine& add, const machine& from) {
  std::istringstream groups(from.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3); group.size() > 1; group.erase(group.rfind('/')))
      check_quota_of(add, from, group);
    check_quota_of(add, from, "");
  }
}

// Both limits of a line of /proc/self/limits; "unlimited" is RLIM_INFINITY.
[[nodiscard]] std::optional<rlimit> limit_of(const machine& from, const std::string& name) {
  std::istringstream lines(from.text("/proc/self/limits").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::string soft;
    std::string hard;
    words >> soft >> hard;
    const auto value = [](const std::string& word) -> std::optional<rlim_t> {
      if (word == "unlimited") return RLIM_INFINITY;
      const auto number = machine::to_number(word);
      return number && *number >= 0 ? std::optional(static_cast<rlim_t>(*number)) : std::nullopt;
    };
    const auto now = value(soft);
    const auto most = value(hard);
    if (now && most) return rlimit{*now, *most};
  }
  return std::nullopt;
}

[[nodiscard]] bool may(const machine& from, unsigned capability) {
  const std::string status = from.text("/proc/self/status").value_or("");
  const auto at = status.find("\nCapEff:");
  return at != std::string::npos && (std::strtoull(status.c_str() + at + 8, nullptr, 16) >> capability & 1) != 0;
}

void check_priority(const examine& add, const machine& from) {
  constexpr unsigned cap_sys_nice = 23;
  if (may(from, cap_sys_nice)) return add({severity::ok, "priority", "SCHED_FIFO is allowed (CAP_SYS_NICE)", {}});
  const auto limit = limit_of(from, "Max realtime priority");
  if (limit && limit->rlim_cur >= enough_priority)
    return add({severity::ok, "priority", "SCHED_FIFO up to " + std::to_string(limit->rlim_cur), {}});
  add({severity::note, "priority",
       "SCHED_FIFO with priority 80 is refused to you; units of systemd need LimitRTPRIO=95",
       raise_limit('r', "rtprio", 95, limit.value_or(rlimit{0, 0}))});
}

void check_locked_memory(const examine& add, const machine& from) {
  constexpr unsigned cap_ipc_lock = 14;
  const auto limit = limit_of(from, "Max locked memory");
  if (may(from, cap_ipc_lock) || (limit && limit->rlim_cur == RLIM_INFINITY))
    return add({severity::ok, "locked memory", "no limit", {}});
  const std::string kib = limit ? std::to_string(limit->rlim_cur >> 10) + " KiB" : "unknown";
  add({severity::note, "locked memory",
       kib + ": lock_memory() needs all that a program has; units of systemd need LimitMEMLOCK=infinity",
       raise_limit('l', "memlock", RLIM_INFINITY, limit.value_or(rlimit{0, 0}))});
}

void check_huge_pages_of_others(const examine& add, const machine& from) {
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto setting = from.text(file);
  if (!setting) return;
  if (!has(*setting, "[always]"))
    return add({severity::ok, "transparent huge pages", "only for programs that ask for them", {}});
  add({severity::note,
       "transparent huge pages",
       "always: the kernel moves pages of a program while it runs",
       {"echo madvise | " + as_root("tee " + file), boot_with("transparent_hugepage=madvise")}});
}

// Compaction makes room for large pages. The kernel with PREEMPT_RT leaves locked pages alone from the start.
void check_compaction(const examine& add, const machine& from) {
  const auto moves = from.number("/proc/sys/vm/compact_unevictable_allowed");
  if (!moves) return;
  if (*moves == 0) return add({severity::ok, "locked pages", "the kernel does not move them", {}});
  add({severity::note, "locked pages", "the kernel may move them: a loop that touches one then waits for it",
       set_kernel_parameter("vm.compact_unevictable_allowed", "0")});
}

void check_timer_slack(const examine& add, const machine& from) {
  const auto slack = from.number("/proc/self/timerslack_ns");
  if (!slack || *slack < 0) return;
  add({severity::ok,
       "timer slack",
       std::to_string(*slack / 1000) + " µs: sleeps of threads without SCHED_FIFO end so much late; " +
           "wait::predictive sets it to 1 ns for its thread",
       {}});
}

}  // namespace

void check_realtime(const examine& add, const std::string& root) {
  const machine here(root);
  check_kernel(add, here);
  check_virtual_machine(add, here);
  check_priority(add, here);
  check_locked_memory(add, here);
  check_share(add, here);
  check_group(add, here);
  check_quota(add, here);
  check_cpus(add, here);
  check_clock_source(add, here);
  check_timer_slack(add, here);
  check_huge_pages_of_others(add, here);
  check_compaction(add, here);
}

}  // namespace orc::cli
