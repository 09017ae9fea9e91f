// orc/realtime.h, and where the threads of a participant run. Each in a process of its own: locked memory stays locked,
// and libzmq's threads are those of the process.
#include <sched.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "orc.h"
#include "support/as_nobody.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/forked.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct placed_threads {
  std::atomic<int> ours{-1};  // liborc's and libzmq's; -1: the participant was refused
  std::atomic<int> wrong{0};  // of them, with another policy, priority or set of CPUs
};

struct placing {
  int policy = SCHED_OTHER;
  int priority = 0;
  std::vector<int> cpus;
};

[[nodiscard]] bool is_placed(int thread, const placing& wanted) {
  sched_param has{};
  cpu_set_t cpus;
  if (::sched_getparam(thread, &has) != 0 || ::sched_getaffinity(thread, sizeof cpus, &cpus) != 0) return false;
  for (const int cpu : wanted.cpus) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus) == 0) return false;
  }
  return ::sched_getscheduler(thread) == wanted.policy && has.sched_priority == wanted.priority &&
         (wanted.cpus.empty() || CPU_COUNT(&cpus) == static_cast<int>(wanted.cpus.size()));
}

void look_at_threads(placed_threads& into, const placing& wanted) {
  int ours = 0, wrong = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(each.path() / "comm"), name);
    if (name != "orc" && name.find("ZMQ") == std::string::npos) continue;
    ++ours;
    if (!is_placed(std::stoi(each.path().filename().string()), wanted)) ++wrong;
  }
  into.wrong = wrong;
  into.ours = ours;
}

// Makes a participant on a thread with `priority` of SCHED_FIFO (0: an ordinary one), and looks at its threads.
void make_and_look(placed_threads& into, const orc::participant_options& options, int priority, const placing& wanted) {
  std::thread([&] {
    if (!orc::set_realtime(priority)) return;
    orc::participant tested(options);
    if (tested.register_topic("t").code() == orc::errc::no_permission) return;
    look_at_threads(into, wanted);
  }).join();
}

[[nodiscard]] int last_cpu() {
  cpu_set_t cpus;
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus) != 0) last = cpu;
  }
  return last;
}

struct placement_case {
  int makers_priority;
  int housekeeping_priority;
  std::vector<int> cpus;
  placing wanted;
};

struct locked {
  std::atomic<bool> allowed{false};
  std::atomic<long> in_stack{-1}, in_heap{-1};  // page faults
  std::atomic<long> locked_kb{0};
};

[[nodiscard]] long faults() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt + used.ru_majflt;
}

[[gnu::noinline]] void use_stack() {
  volatile unsigned char bytes[200 * 1024];
  for (std::size_t at = 0; at < sizeof bytes; at += 1024) bytes[at] = 1;
}

void use_heap() {
  auto* const bytes = static_cast<volatile unsigned char*>(std::malloc(4 << 20));
  for (std::size_t at = 0; at < (4 << 20); at += 1024) bytes[at] = 1;
  std::free(const_cast<unsigned char*>(bytes));
}

[[nodiscard]] long locked_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmLck:", 0) == 0) return std::stol(line.substr(6));
  }
  return 0;
}

}  // namespace

TEST_CASE("realtime: liborc's and libzmq's threads run as the participant's options say") {
  const int cpu = last_cpu();
  const std::vector<placement_case> cases{{0, -1, {}, {SCHED_OTHER, 0, {}}},     {0, 0, {cpu}, {SCHED_OTHER, 0, {cpu}}},
                                          {0, 7, {cpu}, {SCHED_FIFO, 7, {cpu}}}, {5, -1, {}, {SCHED_FIFO, 5, {}}},
                                          {5, 0, {}, {SCHED_OTHER, 0, {}}},      {5, 9, {}, {SCHED_FIFO, 9, {}}}};
  int refused = 0;
  for (const auto& each : cases) {
    broker_process broker;
    auto options = broker.options();
    options.housekeeping_priority = each.housekeeping_priority;
    options.housekeeping_cpus = each.cpus;
    shared_with_children<placed_threads> found;
    forked([&] { make_and_look(*found, options, each.makers_priority, each.wanted); }).wait();
    INFO("made at " << each.makers_priority << " with " << each.housekeeping_priority);
    if (found->ours == -1 && each.wanted.policy + each.makers_priority != 0) {
      ++refused;
      continue;
    }
    CHECK(found->ours == 3);
    CHECK(found->wrong == 0);
  }
  if (refused != 0) return skip("SCHED_FIFO is not allowed");
}

TEST_CASE("realtime: a priority or CPU that there is not is a bad argument") {
  const std::vector<std::pair<int, std::vector<int>>> wrong{
      {100, {}}, {-2, {}}, {-1, {-1}}, {-1, {100'000}}, {0, {0, 1'000}}};
  for (const auto& [priority, cpus] : wrong) {
    orc::participant_options options;
    options.broker = "none";
    options.housekeeping_priority = priority;
    options.housekeeping_cpus = cpus;
    orc::participant tested(options);
    const auto refused = tested.register_topic("t");
    INFO(refused.error().message());
    CHECK(refused.code() == orc::errc::bad_argument);
    CHECK(refused.error().message().find("housekeeping_") != std::string::npos);
    CHECK(tested.request_topic("t").code() == orc::errc::bad_argument);
  }
  CHECK(orc::set_realtime(-1).code() == orc::errc::bad_argument);
  CHECK(orc::set_realtime(100).code() == orc::errc::bad_argument);
}

TEST_CASE("realtime: what is refused changes nothing") {
  cpu_set_t before, after;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  const std::vector<int> cpus{last_cpu(), 1'000};
  REQUIRE(orc::set_realtime(0, cpus).code() == orc::errc::bad_argument);
  REQUIRE(::sched_getaffinity(0, sizeof after, &after) == 0);
  REQUIRE(CPU_EQUAL(&before, &after) != 0);
}

TEST_CASE("realtime: without the permission the answer says how to get it") {
  if (::getuid() != 0) return skip("only root can become another user");
  const std::string text = text_for_nobody([] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_RTPRIO, &none);
    ::setrlimit(RLIMIT_MEMLOCK, &none);
    orc::participant_options options;
    options.broker = "none";
    options.housekeeping_priority = 7;
    orc::participant tested(options);
    const std::vector<orc::result> answers{tested.register_topic("t"), orc::set_realtime(7), orc::lock_memory()};
    std::string all;
    for (const auto& each : answers)
      all += each.code() == orc::errc::no_permission ? each.error().message() + "\n" : "something else\n";
    return all;
  });
  INFO(text);
  CHECK(text.find("something else") == std::string::npos);
  CHECK(text.find("housekeeping_priority 7") != std::string::npos);
  CHECK(text.find("\npriority 7") != std::string::npos);
  CHECK(text.find("LimitRTPRIO=7") != std::string::npos);
  CHECK(text.find("ulimit -l") != std::string::npos);
}

TEST_CASE("realtime: after lock_memory neither stack nor heap is touched for the first time") {
  shared_with_children<locked> found;
  forked([&] {
    found->allowed = static_cast<bool>(orc::lock_memory());
    if (!found->allowed) return;
    found->locked_kb = locked_kb();
    const long before = faults();
    use_stack();
    const long between = faults();
    use_heap();
    found->in_heap = faults() - between;
    found->in_stack = between - before;
  }).wait();
  if (!found->allowed) return skip("locked memory is not allowed");
  CHECK(found->locked_kb > 16 * 1024);
  CHECK(found->in_stack == 0);
  CHECK(found->in_heap == 0);
}
