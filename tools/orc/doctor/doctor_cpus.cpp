// orc doctor --realtime: the CPUs.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_machine.h"

namespace orc::cli {

namespace {

constexpr std::int64_t long_exit_us = 20;  // of a power state, beside a period of 1 ms
constexpr const char* cpu_files = "/sys/devices/system/cpu";

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

[[nodiscard]] bool contains(const std::vector<unsigned>& list, unsigned cpu) {
  return std::find(list.begin(), list.end(), cpu) != list.end();
}

// The CPUs that are online, and those of them that are for loops.
struct cpu_sets {
  std::vector<unsigned> online;
  std::vector<unsigned> isolated;

  explicit cpu_sets(const machine& from)
      : online(cpu_list(from.text(std::string(cpu_files) + "/online").value_or(""))),
        isolated(cpu_list(from.text(std::string(cpu_files) + "/isolated").value_or(""))) {}
  // True: there are both isolated and ordinary ones, so that work can be kept off the isolated ones.
  [[nodiscard]] bool are_divided() const { return !isolated.empty() && isolated.size() != online.size(); }
  [[nodiscard]] std::vector<unsigned> ordinary() const {
    std::vector<unsigned> found;
    for (const unsigned cpu : online)
      if (!contains(isolated, cpu)) found.push_back(cpu);
    return found;
  }
};

[[nodiscard]] std::string with_cpupower(const std::string& command) {
  return as_root("apt install linux-cpupower") + " && " + as_root("cpupower " + command);
}

void check_isolated_cpus(const examine& add, const machine& from, const cpu_sets& cpus) {
  if (cpus.isolated.empty()) {
    finding none{severity::note, "isolated CPUs", "none: a loop shares its CPU with all other programs", {}};
    if (cpus.online.size() > 1) {
      const std::string last = std::to_string(cpus.online.back());
      none.fixes = {boot_with("isolcpus=managed_irq,domain," + last + " nohz_full=" + last + " rcu_nocbs=" + last)};
    } else {
      none.found += "; this machine has only one";
    }
    return add(std::move(none));
  }
  const std::string list = *from.text(std::string(cpu_files) + "/isolated");
  const auto quiet = cpu_list(from.text(std::string(cpu_files) + "/nohz_full").value_or(""));
  const bool ticks =
      std::any_of(cpus.isolated.begin(), cpus.isolated.end(), [&](unsigned cpu) { return !contains(quiet, cpu); });
  if (ticks)
    return add({severity::note,
                "isolated CPUs",
                list + ", but the scheduler's tick still interrupts a loop there",
                {boot_with("nohz_full=" + list + " rcu_nocbs=" + list)}});
  add({severity::ok, "isolated CPUs", list, {}});
}

[[nodiscard]] std::string as_list(const std::vector<unsigned>& cpus) {
  std::string list;
  for (const unsigned cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return list;
}

// So many hexadecimal digits.
[[nodiscard]] std::string as_mask(const std::vector<unsigned>& cpus, std::size_t digits) {
  std::vector<unsigned> values(digits);
  for (const unsigned cpu : cpus)
    if (cpu / 4 < digits) values[digits - 1 - cpu / 4] |= 1U << cpu % 4;
  std::string mask;
  for (const unsigned value : values) mask += "0123456789abcdef"[value];
  return mask;
}

// New interrupts go to the CPUs of this mask: hexadecimal digits, in groups of eight.
void check_interrupts(const examine& add, const machine& from, const cpu_sets& cpus) {
  std::string mask = from.text("/proc/irq/default_smp_affinity").value_or("");
  std::erase(mask, ',');
  if (!cpus.are_divided() || mask.empty() || mask.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return;
  std::string wanted = mask;
  bool hit = false;
  for (const unsigned cpu : cpus.isolated) {
    if (cpu / 4 >= mask.size()) continue;
    char& digit = wanted[mask.size() - 1 - cpu / 4];
    const auto value = static_cast<unsigned>(std::stoi(std::string(1, digit), nullptr, 16));
    if ((value >> cpu % 4 & 1) == 0) continue;
    hit = true;
    digit = "0123456789abcdef"[value & ~(1U << cpu % 4)];
  }
  if (!hit) return add({severity::ok, "interrupts", "new ones leave the isolated CPUs alone", {}});
  // The kernel refuses an empty mask.
  if (wanted.find_first_not_of('0') == std::string::npos) wanted = as_mask(cpus.ordinary(), wanted.size());
  for (std::size_t at = wanted.size(); at > 8; at -= 8) wanted.insert(at - 8, ",");
  add({severity::note,
       "interrupts",
       "new ones may go to the isolated CPUs",
       {"echo " + wanted + " | " + as_root("tee /proc/irq/default_smp_affinity"),
        boot_with("irqaffinity=" + as_list(cpus.ordinary()))}});
}

// Two threads of a core share its units and caches.
void check_core_threads(const examine& add, const machine& from, const cpu_sets& cpus) {
  for (const unsigned cpu : cpus.isolated) {
    const auto both =
        cpu_list(from.text(std::string(cpu_files) + "/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list")
                     .value_or(""));
    for (const unsigned other : both) {
      if (contains(cpus.isolated, other)) continue;
      return add({severity::note,
                  "threads of a core",
                  "CPU " + std::to_string(cpu) + " is isolated and shares its core with CPU " + std::to_string(other) +
                      ", which is not",
                  {"echo off | " + as_root("tee " + std::string(cpu_files) + "/smt/control"), boot_with("nosmt")}});
    }
  }
  if (!cpus.isolated.empty()) add({severity::ok, "threads of a core", "none shares one with an isolated CPU", {}});
}

// irqbalance moves interrupts about every ten seconds.
void check_irqbalance(const examine& add, const machine& from) {
  for (const std::string& process : from.entries("/proc", "")) {
    if (!machine::to_number(process) || from.text("/proc/" + process + "/comm") != "irqbalance") continue;
    return add({severity::note,
                "irqbalance",
                "runs, and gives interrupts to other CPUs while a loop runs there",
                {as_root("systemctl disable --now irqbalance")}});
  }
}

// Of single interrupts. Those that the kernel manages cannot be moved, and are few.
void check_interrupt_targets(const examine& add, const machine& from, const cpu_sets& cpus) {
  if (!cpus.are_divided()) return;
  std::size_t count = 0;
  std::string first;
  for (const std::string& irq : from.entries("/proc/irq", "")) {
    const auto targets = cpu_list(from.text("/proc/irq/" + irq + "/effective_affinity_list").value_or(""));
    const bool hit =
        std::any_of(targets.begin(), targets.end(), [&](unsigned cpu) { return contains(cpus.isolated, cpu); });
    if (!hit) continue;
    if (count++ == 0) first = irq;
  }
  if (count == 0) return;
  add({severity::note,
       "interrupt targets",
       std::to_string(count) + " interrupt(s) go to isolated CPUs, the first is " + first,
       {"for each in /proc/irq/*/smp_affinity_list; do echo " + as_list(cpus.ordinary()) + " | " +
        as_root("tee $each") + "; done"}});
}

void check_power_states(const examine& add, const machine& from) {
  std::int64_t longest = 0;
  std::string deepest;
  std::string which;
  for (const std::string& cpu : from.entries(cpu_files, "cpu")) {
    const std::string directory = std::string(cpu_files) + "/" + cpu + "/cpuidle";
    for (const std::string& state : from.entries(directory, "state")) {
      const std::string path = directory + "/" + state;
      const auto latency = from.number(path + "/latency");
      if (!latency || *latency <= longest || from.number(path + "/disable") == 1) continue;
      longest = *latency;
      deepest = from.text(path + "/name").value_or(state);
      which = cpu;
    }
  }
  if (longest <= long_exit_us)
    return add({severity::ok,
                "power states",
                deepest.empty() ? "the kernel uses none" : deepest + ", left within " + std::to_string(longest) + " µs",
                {}});
  add({severity::note,
       "power states",
       "an idle " + which + " sleeps as deep as " + deepest + " and needs " + std::to_string(longest) + " µs to wake",
       {with_cpupower("idle-set -D " + std::to_string(long_exit_us)),
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
       {with_cpupower("frequency-set -g performance"), boot_with("cpufreq.default_governor=performance")}});
}

}  // namespace

void check_cpus(const examine& add, const machine& from) {
  const cpu_sets cpus(from);
  check_isolated_cpus(add, from, cpus);
  check_core_threads(add, from, cpus);
  check_interrupts(add, from, cpus);
  check_interrupt_targets(add, from, cpus);
  check_irqbalance(add, from);
  check_power_states(add, from);
  check_frequency(add, from);
}

}  // namespace orc::cli
