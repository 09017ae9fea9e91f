// What ORC asks of the kernel for a program with a control loop, on threads and memory of this process.
#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/files/temporary_directory.h"
#include "base/process/child_process.h"
#include "core/trace/trace_log.h"
#include "orc.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::errc;

namespace {

struct placed {
  std::string name;
  int policy = -1;
  int priority = -1;
  int cpus = 0;
};

// The threads of this process that have this name, or this one before a slash.
std::vector<placed> threads_named(const std::string& wanted) {
  std::vector<placed> found;
  DIR* const all = ::opendir("/proc/self/task");
  if (all == nullptr) return found;
  while (const dirent* const each = ::readdir(all)) {
    const int tid = std::atoi(each->d_name);
    if (tid == 0) continue;
    placed one;
    std::getline(std::ifstream("/proc/self/task/" + std::string(each->d_name) + "/comm"), one.name);
    if (one.name.substr(0, one.name.find('/')) != wanted) continue;
    sched_param parameters{};
    cpu_set_t cpus;
    if (::sched_getparam(tid, &parameters) != 0 || ::sched_getaffinity(tid, sizeof cpus, &cpus) != 0) continue;
    one.policy = ::sched_getscheduler(tid);
    one.priority = parameters.sched_priority;
    one.cpus = CPU_COUNT(&cpus);
    found.push_back(one);
  }
  ::closedir(all);
  return found;
}

orc::participant_options placed_at(int priority, std::vector<int> cpus = {}) {
  orc::participant_options options;
  options.broker = "tcp://127.0.0.1:1";  // where nobody answers
  options.broker_timeout = std::chrono::milliseconds(0);
  options.housekeeping_priority = priority;
  options.housekeeping_cpus = std::move(cpus);
  return options;
}

bool may_be_realtime() {
  bool may = false;
  std::thread([&] { may = static_cast<bool>(orc::set_realtime(1)); }).join();
  return may;
}

int first_cpu() {
  cpu_set_t mine;
  ::sched_getaffinity(0, sizeof mine, &mine);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &mine)) ++cpu;
  return cpu;
}

// Runs in a copy of this process, which may lose what it was allowed.
int outcome_in_a_copy(const std::function<int()>& body) {
  auto copy = orc::detail::child_process::run(body);
  const auto status = copy.wait(patience);
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

constexpr int could_not_try = 77;

}  // namespace

TEST_CASE("realtime: the housekeeping thread has the priority and the CPUs that were asked for", "[unit][threads]") {
  if (!may_be_realtime()) return skip("SCHED_FIFO is not allowed here");
  const orc::participant with(placed_at(7, {first_cpu()}));
  const auto threads = threads_named("orc");
  REQUIRE(threads.size() == 1);
  CHECK(threads[0].policy == SCHED_FIFO);
  CHECK(threads[0].priority == 7);
  CHECK(threads[0].cpus == 1);
}

TEST_CASE("realtime: a participant that a real-time thread makes has threads without, when it asks for none",
          "[unit][threads]") {
  if (!may_be_realtime()) return skip("SCHED_FIFO is not allowed here");
  std::thread([] {
    CHECK(orc::set_realtime(5, std::vector{first_cpu()}));
    {
      const orc::participant inherits(placed_at(-1));
      const auto threads = threads_named("orc");
      CHECK(threads.size() == 1);
      for (const auto& each : threads) CHECK((each.policy == SCHED_FIFO && each.priority == 5));
    }
    const orc::participant without(placed_at(0));
    const auto threads = threads_named("orc");
    CHECK(threads.size() == 1);
    for (const auto& each : threads) CHECK(each.policy == SCHED_OTHER);
    CHECK(wait_until([] { return !threads_named("ZMQbg").empty(); }));
    for (const auto& each : threads_named("ZMQbg")) CHECK(each.policy == SCHED_OTHER);
  }).join();
}

TEST_CASE("realtime: a priority or a CPU that there is not is refused with what is wrong", "[unit][threads]") {
  const auto refused = [](int priority, std::vector<int> cpus, const std::string& what) {
    orc::participant tested(placed_at(priority, std::move(cpus)));
    const auto why = tested.register_topic("t").result();
    CHECK(why.code() == errc::bad_argument);
    CHECK_THAT(why.error().message(), contains(what));
    CHECK(threads_named("orc").empty());
  };
  refused(-2, {}, "housekeeping_priority");
  refused(100, {}, "housekeeping_priority");
  refused(-1, {-1}, "housekeeping_cpus");
  refused(-1, {1'000'000}, "housekeeping_cpus");
  refused(-1, {CPU_SETSIZE - 1}, "housekeeping_cpus");
  refused(-1, {first_cpu(), CPU_SETSIZE - 1}, "housekeeping_cpus");
  CHECK(orc::set_realtime(-1).code() == errc::bad_argument);
  CHECK(orc::set_realtime(100).code() == errc::bad_argument);
  CHECK(orc::set_realtime(0, std::vector{CPU_SETSIZE - 1}).code() == errc::bad_argument);
}

TEST_CASE("realtime: without the permission everything says how to get it, and nothing has changed",
          "[unit][threads]") {
  const int outcome = outcome_in_a_copy([] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_RTPRIO, &none) != 0 || ::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return could_not_try;
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return could_not_try;
    const auto thread = orc::set_realtime(5, std::vector{first_cpu()});
    if (thread.code() != errc::no_permission) return 1;
    if (thread.error().message().find("ulimit -r 5") == std::string::npos) return 2;
    cpu_set_t mine;
    if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return 3;
    if (::sched_getscheduler(0) != SCHED_OTHER) return 4;
    if (!under_sanitizer) {  // a sanitizer locks nothing, and says that it did
      const auto memory = orc::lock_memory();
      if (memory.code() != errc::no_permission) return 5;
      if (memory.error().message().find("ulimit -l unlimited") == std::string::npos) return 6;
    }
    orc::participant tested(placed_at(5));
    if (tested.register_topic("t").result().code() != errc::no_permission) return 7;
    orc::participant plain(placed_at(0));
    return plain.register_topic("t").result().code() == errc::no_permission ? 8 : 0;
  });
  if (outcome == could_not_try) return skip("not the root user, who can be somebody else");
  CHECK(outcome == 0);
}

TEST_CASE("realtime: locked memory is there before it is used", "[unit][threads]") {
  if (under_sanitizer) return skip("sanitizers do not lock memory");
  const int outcome = outcome_in_a_copy([] {
    constexpr std::size_t heap = 8 << 20;
    if (!orc::lock_memory({.stack_bytes = 1 << 20, .heap_bytes = heap})) return could_not_try;
    const auto faults = [] {
      rusage used{};
      ::getrusage(RUSAGE_SELF, &used);
      return used.ru_minflt + used.ru_majflt;
    };
    const long before = faults();
    for (int n = 0; n < 10; ++n) {
      auto* const taken = static_cast<volatile char*>(std::malloc(heap / 2));
      if (taken == nullptr) return 1;
      for (std::size_t at = 0; at < heap / 2; at += 4096) taken[at] = 1;
      std::free(const_cast<char*>(taken));
      volatile char stack[512 << 10];
      for (std::size_t at = 0; at < sizeof stack; at += 4096) stack[at] = 1;
    }
    return faults() - before > 5 ? 2 : 0;
  });
  if (outcome == could_not_try) return skip("no permission to lock memory");
  CHECK(outcome == 0);
}

TEST_CASE("real time: the thread that writes a trace is an ordinary one, whoever starts it", "[unit][threads]") {
  if (!may_be_realtime()) return skip("SCHED_FIFO is not allowed");
  const orc::detail::temporary_directory directory;
  std::thread([&] {
    CHECK(orc::set_realtime(5));
    const auto log = *orc::detail::trace_log::create(directory.file("t"), {});
    log->work();
    CHECK(wait_until([&] {
      const auto threads = threads_named("orc trace");
      return threads.size() == 1 && threads[0].policy == SCHED_OTHER;
    }));
    log->rest();
  }).join();
}
