#include "core/trace/interceptor.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/process/fork_generation.h"
#include "core/trace/replayer.h"
#include "core/trace/tracer.h"

namespace orc::detail {

std::atomic<interceptor*> interceptor::in_use{nullptr};

namespace {

enum class state : std::uint8_t { undecided, off, traced, replayed, child_of_traced, child_of_replayed };

std::mutex deciding;
std::atomic<state> now{state::undecided};

// For the first participant to log: the process may call monotonic_ns() before it makes one. Never destroyed, like the
// interceptor.
struct notice {
  log_level level = log_level::info;
  std::string text;
};
notice& unsaid() {
  static auto* const instance = new notice;
  return *instance;
}

// The programs of a set-uid user must not write where the caller wants.
[[nodiscard]] std::string variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value != nullptr ? value : "";
}

[[nodiscard]] std::string with_pid(std::string path) {
  for (std::size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
    path.replace(at, 2, std::to_string(getpid()));
  return path;
}

}  // namespace

// The interceptor is never destroyed: static participants and messages may outlive any static object of ours.
struct interceptor::starter {
  static void before_fork() { deciding.lock(); }
  static void after_fork_in_parent() { deciding.unlock(); }
  static void after_fork_in_child() {
    in_use = nullptr;
    if (now == state::traced) now = state::child_of_traced;
    if (now == state::replayed) now = state::child_of_replayed;
    deciding.unlock();
  }

  [[nodiscard]] static state begin() {
    const std::string replayed = variable("ORC_REPLAY");
    const std::string traced = variable("ORC_TRACE");
    if (replayed.empty() && traced.empty()) return state::off;
    count_forks();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (!replayed.empty()) {
      in_use = replayer::make(replayed, variable("ORC_REPLAY_CONTROL")).release();
      return state::replayed;
    }
    const std::string path = with_pid(traced);
    auto made = tracer::make(path);
    if (!made) {
      unsaid() = {log_level::warning, "ORC_TRACE: this process is not traced: " + made.error().message()};
      return state::off;
    }
    unsaid() = {log_level::info, "tracing to " + path};
    in_use = (*made).release();
    return state::traced;
  }

  // With the lock.
  static void decide() {
    if (now == state::child_of_traced) {
      unsaid() = {log_level::warning, "ORC_TRACE: this process is not traced: it is a fork of a traced one"};
      now = state::off;
    }
    if (now == state::undecided) now = begin();
  }
};

void interceptor::start() {
  const state before = now.load(std::memory_order_acquire);
  if (before == state::off || before == state::traced || before == state::replayed) return;
  const std::lock_guard lock(deciding);
  starter::decide();
}

void interceptor::start(const log_callback& log) {
  notice told;
  {
    const std::lock_guard lock(deciding);
    starter::decide();
    if (log || unsaid().level == log_level::warning) std::swap(told, unsaid());
  }
  if (!told.text.empty()) tell(log, told.level, told.text);
}

void interceptor::tell(const log_callback& log, log_level level, const std::string& text) {
  if (log) return log(level, text);
  if (level == log_level::warning) (void)dprintf(STDERR_FILENO, "orc: %s\n", text.c_str());
}

std::optional<error> interceptor::refusal() {
  if (now != state::child_of_replayed) return std::nullopt;
  return error(errc::refused, "this process is a fork of a replayed one: its own calls were not traced");
}

}  // namespace orc::detail
