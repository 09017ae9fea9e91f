// A thread that runs one call which waits. The test sees when the thread sleeps in that call, and only then acts.
#pragma once

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "support/wait_until.h"

namespace orc::test {

class waiting_thread {
 public:
  // Time limit for the call: await_end() fails before.
  static constexpr std::chrono::milliseconds limit = 2 * patience;

  // `call` may block nowhere but in its wait, and uses limit: a call that nothing wakes would often look again at
  // its deadline, and succeed.
  template <typename Call>
  explicit waiting_thread(Call call)
      : thread_([this, call = std::move(call)] {
          id_ = static_cast<pid_t>(::syscall(SYS_gettid));
          call();
          done_ = true;
        }) {}
  ~waiting_thread() {
    if (thread_.joinable()) thread_.join();
  }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

  // False: not in time.
  [[nodiscard]] bool await_sleep() const {
    return wait_until([this] { return id_ != 0 && is_asleep(); });
  }
  // Waits until it has computed for so long, as a thread that watches does. False: not in time.
  [[nodiscard]] bool await_work(std::chrono::milliseconds time) {
    clockid_t clock{};
    timespec used{};
    return ::pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 && wait_until([&] {
             return ::clock_gettime(clock, &used) == 0 &&
                    std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) >= time;
           });
  }
  // The call has returned afterwards. False: not in time.
  [[nodiscard]] bool await_end() {
    const bool in_time = wait_until([this] { return done_.load(); });
    thread_.join();
    return in_time;
  }

 private:
  // The state follows the name, which may have any character but ends with the last parenthesis (proc(5)).
  [[nodiscard]] bool is_asleep() const {
    std::string line;
    std::getline(std::ifstream("/proc/self/task/" + std::to_string(id_) + "/stat"), line);
    const auto name_ends = line.rfind(") ");
    return name_ends != std::string::npos && line[name_ends + 2] == 'S';
  }

  std::atomic<pid_t> id_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace orc::test
