// orc doctor --realtime: what a control loop needs of the machine.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "doctor.h"

namespace orc::cli {

namespace {

constexpr std::size_t longest_file = 1 << 20;
constexpr rlim_t enough_priority = 80;     // of a control loop, above the kernel's interrupt threads
constexpr std::int64_t long_exit_us = 20;  // of a power state, beside a period of 1 ms

// Debian's grub reads this directory.
[[nodiscard]] std::string boot_with(const std::string& option) {
  return "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX " + option + "\"' | " +
         as_root("tee -a /etc/default/grub.d/60-orc.cfg") + " && " + as_root("update-grub") + " && " +
         as_root("reboot");
}

class machine {
 public:
  explicit machine(std::string root) : root_(std::move(root)) {}

  // Without the space at its end. Nothing: there is no such file.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const {
    std::ifstream file(root_ + path);
    if (!file) return std::nullopt;
    std::string all;
    char byte = 0;
    while (all.size() < longest_file && file.get(byte)) all += byte;
    while (!all.empty() && std::isspace(static_cast<unsigned char>(all.back())) != 0) all.pop_back();
    return all;
  }
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path) const {
    const auto found = text(path);
    return found ? to_number(*found) : std::nullopt;
  }
  // Names in a directory that begin so, sorted.
  [[nodiscard]] std::vector<std::string> entries(const std::string& directory, const std::string& beginning) const {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator(root_ + directory, ignored))
      if (each.path().filename().string().starts_with(beginning)) found.push_back(each.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  [[nodiscard]] static std::optional<std::int64_t> to_number(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0) return std::nullopt;
    return value;
  }

 private:
  const std::string root_;
};

constexpr const char* cpu_files = "/sys/devices/system/cpu";

[[nodiscard]] bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// CPUs of a list such as "2-3,7"; empty also when it is none.
[[nodiscard]] std::vector<unsigned> cpu_list(const std::string& text) {
  std::vector<unsigned> found;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const auto first = machine::to_number(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : machine::to_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 8191) return {};
    for (auto cpu = *first; cpu <= *last; ++cpu) found.push_back(static_cast<unsigned>(cpu));
  }
  return found;
}

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

void check_isolated_cpus(const examine& add, const machine& from) {
  const auto isolated = cpu_list(from.text(std::string(cpu_files) + "/isolated").value_or(""));
  const auto online = cpu_list(from.text(std::string(cpu_files) + "/online").value_or(""));
  if (isolated.empty()) {
    finding none{severity::note, "isolated CPUs", "none: a loop shares its CPU with all other programs", {}};
    if (online.size() > 1) {
      const std::string last = std::to_string(online.back());
      none.fixes = {boot_with("isolcpus=managed_irq,domain," + last + " nohz_full=" + last + " rcu_nocbs=" + last)};
    } else {
      none.found += "; this machine has only one";
    }
    return add(std::move(none));
  }
  const std::string list = *from.text(std::string(cpu_files) + "/isolated");
  const auto quiet = cpu_list(from.text(std::string(cpu_files) + "/nohz_full").value_or(""));
  const bool ticks = std::any_of(isolated.begin(), isolated.end(), [&](unsigned cpu) {
    return std::find(quiet.begin(), quiet.end(), cpu) == quiet.end();
  });
  if (ticks)
    return add({severity::note,
                "isolated CPUs",
                list + ", but the scheduler's tick still interrupts a loop there",
                {boot_with("nohz_full=" + list + " rcu_nocbs=" + list)}});
  add({severity::ok, "isolated CPUs", list, {}});
}

[[nodiscard]] std::string list_of_others(const std::vector<unsigned>& isolated, const std::vector<unsigned>& online) {
  std::string list;
  for (const unsigned cpu : online) {
    if (std::find(isolated.begin(), isolated.end(), cpu) != isolated.end()) continue;
    list += (list.empty() ? "" : ",") + std::to_string(cpu);
  }
  return list;
}

// New interrupts go to the CPUs of this mask: hexadecimal digits, in groups of eight.
void check_interrupts(const examine& add, const machine& from) {
  const auto isolated = cpu_list(from.text(std::string(cpu_files) + "/isolated").value_or(""));
  const auto online = cpu_list(from.text(std::string(cpu_files) + "/online").value_or(""));
  std::string mask = from.text("/proc/irq/default_smp_affinity").value_or("");
  std::erase(mask, ',');
  if (isolated.empty() || isolated.size() == online.size() || mask.empty() ||
      mask.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return;
  std::string wanted = mask;
  bool hit = false;
  for (const unsigned cpu : isolated) {
    if (cpu / 4 >= mask.size()) continue;
    char& digit = wanted[mask.size() - 1 - cpu / 4];
    const auto value = static_cast<unsigned>(std::stoi(std::string(1, digit), nullptr, 16));
    if ((value >> cpu % 4 & 1) == 0) continue;
    hit = true;
    digit = "0123456789abcdef"[value & ~(1U << cpu % 4)];
  }
  if (!hit) return add({severity::ok, "interrupts", "new ones leave the isolated CPUs alone", {}});
  for (std::size_t at = wanted.size(); at > 8; at -= 8) wanted.insert(at - 8, ",");
  add({severity::note,
       "interrupts",
       "new ones may go to the isolated CPUs",
       {"echo " + wanted + " | " + as_root("tee /proc/irq/default_smp_affinity"),
        boot_with("irqaffinity=" + list_of_others(isolated, online))}});
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

void check_power_states(const examine& add, const machine& from) {
  const std::string directory = std::string(cpu_files) + "/cpu0/cpuidle";
  std::int64_t longest = 0;
  std::string deepest;
  for (const std::string& state : from.entries(directory, "state")) {
    const std::string path = directory + "/" + state;
    const auto latency = from.number(path + "/latency");
    if (!latency || *latency <= longest || from.number(path + "/disable") == 1) continue;
    longest = *latency;
    deepest = from.text(path + "/name").value_or(state);
  }
  if (longest <= long_exit_us)
    return add({severity::ok,
                "power states",
                deepest.empty() ? "the kernel uses none" : deepest + ", left within " + std::to_string(longest) + " µs",
                {}});
  add({severity::note,
       "power states",
       "an idle CPU sleeps as deep as " + deepest + " and needs " + std::to_string(longest) + " µs to wake",
       {as_root("cpupower idle-set -D " + std::to_string(long_exit_us)),
        boot_with("intel_idle.max_cstate=1 processor.max_cstate=1")}});
}

void check_frequency(const examine& add, const machine& from) {
  std::string other;
  std::string which;
  bool any = false;
  for (const std::string& cpu : from.entries(cpu_files, "cpu")) {
    const auto governor = from.text(std::string(cpu_files) + "/" + cpu + "/cpufreq/scaling_governor");
    if (!governor) continue;
    any = true;
    if (*governor == "performance" || !other.empty()) continue;
    other = *governor;
    which = cpu;
  }
  if (!any) return add({severity::ok, "frequency", "the kernel does not change it", {}});
  if (other.empty()) return add({severity::ok, "frequency", "performance on each CPU", {}});
  add({severity::note,
       "frequency",
       "governor " + other + " on " + which + ": a CPU that slept starts slowly",
       {as_root("cpupower frequency-set -g performance"), boot_with("cpufreq.default_governor=performance")}});
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
  check_isolated_cpus(add, here);
  check_interrupts(add, here);
  check_power_states(add, here);
  check_frequency(add, here);
  check_clock_source(add, here);
  check_timer_slack(add, here);
  check_huge_pages_of_others(add, here);
}

}  // namespace orc::cli
