// `orc doctor --realtime` on machines made up of files: what it finds, and that it has a fix for it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "tools/orc/doctor/doctor.h"

using namespace orc::cli;
using orc::test::contains;

namespace {

// The files of a machine, below a directory.
class made_up {
 public:
  explicit made_up(const std::map<std::string, std::string>& files) {
    for (const auto& [path, text] : files) write(path, text);
  }
  void write(const std::string& path, const std::string& text) {
    const auto whole = std::filesystem::path(root_.path().string() + path);
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  [[nodiscard]] std::map<std::string, finding> examine() const {
    std::map<std::string, finding> found;
    check_realtime([&](finding each) { found[each.name] = std::move(each); }, root_.path().string());
    return found;
  }

 private:
  orc::detail::temporary_directory root_;
};

const std::map<std::string, std::string> good = {
    {"/proc/version", "Linux version 6.1.0-18-rt-amd64 #1 SMP PREEMPT_RT Debian 6.1.76-1"},
    {"/sys/kernel/realtime", "1\n"},
    {"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n"},
    {"/proc/self/status", "Name:\torc\nCapEff:\t0000000000000000\n"},
    {"/proc/self/limits",
     "Limit                     Soft Limit           Hard Limit           Units     \n"
     "Max locked memory         unlimited            unlimited            bytes     \n"
     "Max realtime priority     95                   95                   \n"},
    {"/proc/self/timerslack_ns", "50000\n"},
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000\n"},
    {"/proc/sys/kernel/sched_rt_period_us", "1000000\n"},
    {"/proc/self/cgroup", "0::/user.slice\n"},
    {"/proc/irq/default_smp_affinity", "3\n"},
    {"/sys/devices/system/cpu/online", "0-3\n"},
    {"/sys/devices/system/cpu/isolated", "2-3\n"},
    {"/sys/devices/system/cpu/nohz_full", "2-3\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133\n"},
    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"},
    {"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"},
    {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"/proc/sys/vm/compact_unevictable_allowed", "0\n"},
    {"/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"},
    {"/proc/1/comm", "systemd\n"},
    {"/proc/irq/24/effective_affinity_list", "0\n"},
    {"/proc/irq/25/effective_affinity_list", "\n"},
    {"/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3\n"},
    {"/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3\n"},
};

}  // namespace

TEST_CASE("orc doctor --realtime: a machine that is set up well has no finding", "[unit]") {
  const auto found = made_up(good).examine();
  for (const auto& [name, each] : found) {
    INFO(name << ": " << each.found);
    CHECK(each.level == severity::ok);
    CHECK(each.fixes.empty());
  }
  CHECK(found.size() == 13);
  CHECK_THAT(found.at("kernel").found, contains("PREEMPT_RT"));
  CHECK(found.at("isolated CPUs").found == "2-3");
  CHECK_THAT(found.at("priority").found, contains("95"));
  CHECK_THAT(found.at("power states").found, contains("C1, left within 2 µs"));
  CHECK_THAT(found.at("real-time share").found, contains("95 % of each 1000 ms"));
}

TEST_CASE("orc doctor --realtime: what is not set up is found, with what sets it up", "[unit]") {
  struct wrong {
    std::string name;
    std::map<std::string, std::string> files;
    severity level;
    std::string found;
    std::string fix;
  };
  const std::string cpu = "/sys/devices/system/cpu/";
  const std::vector<wrong> cases = {
      {"kernel",
       {{"/sys/kernel/realtime", "0"}, {"/proc/version", "Linux version 6.1.0 #1 SMP PREEMPT_DYNAMIC"}},
       severity::note,
       "without PREEMPT_RT",
       "linux-image-rt-"},
      {"virtual machine",
       {{"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n"}},
       severity::note,
       "host",
       ""},
      {"priority",
       {{"/proc/self/limits", "Max realtime priority     0                    0                    \n"}},
       severity::note,
       "LimitRTPRIO",
       "- rtprio 95"},
      {"locked memory",
       {{"/proc/self/limits", "Max locked memory         8388608              8388608              bytes     \n"}},
       severity::note,
       "8192 KiB",
       "- memlock unlimited"},
      {"real-time share",
       {{"/proc/sys/kernel/sched_rt_runtime_us", "0"}},
       severity::fail,
       "0 %",
       "sched_rt_runtime_us"},
      {"control group",
       {{"/proc/self/cgroup", "4:cpu,cpuacct:/robot\n1:name=systemd:/robot\n"},
        {"/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", "0\n"}},
       severity::fail,
       "SCHED_FIFO is refused",
       "/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us"},
      {"isolated CPUs",
       {{cpu + "isolated", "\n"}},
       severity::note,
       "none",
       "isolcpus=managed_irq,domain,3 nohz_full=3"},
      {"isolated CPUs", {{cpu + "isolated", ""}, {cpu + "online", "0"}}, severity::note, "only one", ""},
      {"processor quota",
       {{"/sys/fs/cgroup/user.slice/cpu.max", "50000 100000"}},
       severity::note,
       "after 50 ms of processor time in 100 ms",
       "echo max |"},
      {"processor quota",  // of a group around it
       {{"/proc/self/cgroup", "0::/user.slice/loop.scope"}, {"/sys/fs/cgroup/user.slice/cpu.max", "20000 50000"}},
       severity::note,
       "after 20 ms of processor time in 50 ms",
       "tee /sys/fs/cgroup/user.slice/cpu.max"},
      {"processor quota",  // of a container, which sees its own group as the root
       {{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpu.max", "50000 100000"}},
       severity::note,
       "after 50 ms",
       "tee /sys/fs/cgroup/cpu.max"},
      {"locked pages",
       {{"/proc/sys/vm/compact_unevictable_allowed", "1"}},
       severity::note,
       "may move them",
       "vm.compact_unevictable_allowed"},
      {"irqbalance", {{"/proc/77/comm", "irqbalance"}}, severity::note, "runs", "disable --now irqbalance"},
      {"interrupt targets",
       {{"/proc/irq/25/effective_affinity_list", "1-2"}},
       severity::note,
       "1 interrupt(s) go to isolated CPUs, the first is 25",
       "echo 0,1 |"},
      {"threads of a core",
       {{cpu + "cpu2/topology/thread_siblings_list", "0,2"}},
       severity::note,
       "CPU 2 is isolated and shares its core with CPU 0",
       "smt/control"},
      {"power states",
       {{cpu + "cpu3/cpuidle/state1/name", "C9"}, {cpu + "cpu3/cpuidle/state1/latency", "200"}},
       severity::note,
       "cpu3 sleeps as deep as C9",
       "linux-cpupower"},
      {"isolated CPUs", {{cpu + "nohz_full", "3"}}, severity::note, "tick", "nohz_full=2-3"},
      {"interrupts", {{"/proc/irq/default_smp_affinity", "f"}}, severity::note, "may go", "echo 3 |"},
      {"interrupts", {{"/proc/irq/default_smp_affinity", "c"}}, severity::note, "may go", "echo 3 |"},
      {"interrupts",
       {{"/proc/irq/default_smp_affinity", "ffffffff,0000000f"},
        {cpu + "isolated", "1,33"},
        {cpu + "nohz_full", "1,33"}},
       severity::note,
       "may go",
       "echo fffffffd,0000000d |"},
      {"power states", {{cpu + "cpu0/cpuidle/state2/disable", "0"}}, severity::note, "C6 and needs 133 µs", "cpupower"},
      {"frequency",
       {{cpu + "cpu1/cpufreq/scaling_governor", "powersave\n"}},
       severity::note,
       "powersave on cpu1",
       "frequency-set -g performance"},
      {"clock source",
       {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"},
        {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet tsc acpi_pm"}},
       severity::note,
       "hpet",
       "echo tsc"},
      {"transparent huge pages",
       {{"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"}},
       severity::note,
       "always",
       "echo madvise"},
  };
  for (const wrong& each : cases) {
    INFO(each.name << ", " << each.found);
    auto files = good;
    for (const auto& [path, text] : each.files) files[path] = text;
    const auto found = made_up(files).examine();
    REQUIRE(found.contains(each.name));
    const finding& result = found.at(each.name);
    CHECK(result.level == each.level);
    CHECK_THAT(result.found, contains(each.found));
    CHECK(result.fixes.empty() == each.fix.empty());
    if (!each.fix.empty()) CHECK_THAT(result.fixes.front() + result.fixes.back(), contains(each.fix));
    if (each.name == "locked memory" || each.name == "priority") continue;  // the file has lost the other limit
    const auto others =
        std::count_if(found.begin(), found.end(), [](const auto& one) { return one.second.level != severity::ok; });
    CHECK(others == 1);
  }
}

TEST_CASE("orc doctor --realtime: an administrator needs no limits", "[unit]") {
  auto files = good;
  files["/proc/self/status"] = "Name:\torc\nCapEff:\t000001ffffffffff\n";
  files.erase("/proc/self/limits");
  const auto found = made_up(files).examine();
  CHECK(found.at("priority").level == severity::ok);
  CHECK(found.at("locked memory").level == severity::ok);
}

TEST_CASE("orc doctor --realtime: files that are missing, or full of nonsense, are no reason to crash", "[unit]") {
  for (const auto& [name, each] : made_up({}).examine()) {
    INFO(name);
    CHECK_FALSE(each.found.empty());
  }
  const std::string texts[] = {"",
                               "\n",
                               "x",
                               "-1",
                               "99999999999999999999999",
                               "0-99999999",
                               "3-1",
                               ":::",
                               "a:b",
                               ",",
                               "[",
                               std::string(100'000, '7'),
                               std::string("\0\0", 2),
                               "1-2-3",
                               "ffffffffffffffff"};
  for (const std::string& text : texts) {
    auto files = good;
    for (auto& [path, content] : files) content = text;
    for (const auto& [name, each] : made_up(files).examine()) {
      INFO(name << " with \"" << text.substr(0, 20) << "\"");
      CHECK_FALSE(each.found.empty());
    }
  }
}
