#include "base/threads/pi_mutex.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "orc/realtime.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/waiting_thread.h"

using namespace orc::test;
using orc::detail::pi_mutex;

TEST_CASE("pi mutex: only one thread has it at a time", "[threads]") {
  pi_mutex mutex;
  constexpr int threads = 4;
  const std::size_t times = rounds(20'000, 2'000'000);
  std::size_t count = 0;  // not atomic: ThreadSanitizer looks, too
  std::vector<std::thread> running;
  for (int n = 0; n < threads; ++n)
    running.emplace_back([&] {
      for (std::size_t i = 0; i < times; ++i) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  for (auto& each : running) each.join();
  REQUIRE(count == threads * times);
}

TEST_CASE("pi mutex: try_lock never waits", "[threads]") {
  pi_mutex mutex;
  REQUIRE(mutex.try_lock());
  bool got = true;
  std::thread([&] { got = mutex.try_lock(); }).join();
  REQUIRE_FALSE(got);
  mutex.unlock();
  std::thread([&] {
    got = mutex.try_lock();
    if (got) mutex.unlock();
  }).join();
  REQUIRE(got);
}

TEST_CASE("pi mutex: a thread that waits sleeps, and gets it from the owner", "[threads]") {
  pi_mutex mutex;
  mutex.lock();
  int seen = 0, written = 0;
  waiting_thread other([&] {
    const std::lock_guard lock(mutex);
    seen = written;
  });
  const bool slept = other.await_sleep();
  written = 7;
  mutex.unlock();
  REQUIRE(other.await_end());
  REQUIRE(slept);
  REQUIRE(seen == 7);
  REQUIRE(mutex.try_lock());
  mutex.unlock();
}

// The kernel compares the owner's thread id with that of the thread that unlocks.
TEST_CASE("pi mutex: the child of a fork has thread ids of its own", "[threads]") {
  pi_mutex mutex;
  mutex.lock();  // the thread knows its id from now on
  mutex.unlock();
  const pid_t child = ::fork();
  if (child == 0) {
    mutex.lock();
    waiting_thread other([&] { const std::lock_guard lock(mutex); });
    const bool slept = other.await_sleep();
    mutex.unlock();
    ::_exit(slept && other.await_end() ? 0 : 1);
  }
  int status = -1;
  const bool ended = wait_until([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  REQUIRE(ended);
  REQUIRE(status == 0);
}

// The middle thread spins on the only CPU until the high one has the mutex. The low one, which has it, runs only with
// the priority of the high one.
TEST_CASE("pi mutex: the owner runs with the priority of the thread that waits", "[unit][threads]") {
  constexpr int low = 1, middle = 2, high = 3;
  const int cpu = ::sched_getcpu();
  const std::vector<int> here{cpu};
  orc::result allowed;
  std::thread([&] { allowed = orc::set_realtime(high, here); }).join();
  if (allowed.code() == orc::errc::no_permission)
    return skip("SCHED_FIFO is not allowed: " + allowed.error().message());
  REQUIRE(allowed);

  pi_mutex mutex;
  std::atomic<int> placed{0};
  std::atomic<bool> has_it{false}, spins{false}, arrived{false};
  std::thread owner([&] {
    if (orc::set_realtime(low, here)) ++placed;
    const std::lock_guard lock(mutex);
    has_it = true;
    has_it.notify_all();
    spins.wait(false);
  });
  has_it.wait(false);
  waiting_thread waits([&] {
    if (orc::set_realtime(high, here)) ++placed;
    const std::lock_guard lock(mutex);
    arrived = true;
  });
  const bool slept = waits.await_sleep();
  bool saw_it = false;
  std::thread spinning([&] {
    if (orc::set_realtime(middle, here)) ++placed;
    spins = true;
    spins.notify_all();
    const orc::detail::deadline until(5'000);
    while (!arrived && !until.passed()) {
    }
    saw_it = arrived;
  });
  spinning.join();
  owner.join();
  REQUIRE(waits.await_end());
  REQUIRE(placed == 3);
  REQUIRE(slept);
  REQUIRE(saw_it);
}
