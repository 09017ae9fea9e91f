#include "base/threads/thread_placement.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace orc::detail {

namespace {

[[nodiscard]] result failed(const std::string& what, int number) {
  return {errc::system_error, what + ": " + std::generic_category().message(number)};
}

[[nodiscard]] result set_priority(pthread_t thread, int priority, const char* name) {
  const sched_param wanted{.sched_priority = priority};
  const int refused = pthread_setschedparam(thread, priority == 0 ? SCHED_OTHER : SCHED_FIFO, &wanted);
  if (refused == 0) return {};
  const std::string what = std::string(name) + " " + std::to_string(priority);
  if (refused != EPERM) return failed(what, refused);
  const std::string limit = std::to_string(priority);
  return {errc::no_permission, what + ": SCHED_FIFO is not allowed here; allow it with ulimit -r " + limit +
                                   ", with LimitRTPRIO=" + limit + " in the systemd unit, or with CAP_SYS_NICE"};
}

}  // namespace

result place_thread(pthread_t thread, int priority, std::span<const int> cpus, const char* priority_name,
                    const char* cpus_name) {
  if (priority < -1 || priority > 99)
    return {errc::bad_argument, std::string(priority_name) + " is 1 to 99, or 0 for none"};
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
      return {errc::bad_argument, std::string(cpus_name) + ": there is no CPU " + std::to_string(cpu)};
    CPU_SET(static_cast<std::size_t>(cpu), &wanted);
  }
  cpu_set_t before;
  if (!cpus.empty()) {
    if (const int refused = pthread_getaffinity_np(thread, sizeof before, &before); refused != 0)
      return failed(cpus_name, refused);
    if (const int refused = pthread_setaffinity_np(thread, sizeof wanted, &wanted); refused == EINVAL)
      return {errc::bad_argument, std::string(cpus_name) + ": this host has none of these CPUs for this process"};
    else if (refused != 0)
      return failed(cpus_name, refused);
    // the kernel leaves out silently what it does not have
    cpu_set_t got;
    if (pthread_getaffinity_np(thread, sizeof got, &got) == 0 && CPU_EQUAL(&got, &wanted) == 0) {
      (void)pthread_setaffinity_np(thread, sizeof before, &before);
      return {errc::bad_argument,
              std::string(cpus_name) + ": this host does not have all of these CPUs for this process"};
    }
  }
  if (priority < 0) return {};
  auto done = set_priority(thread, priority, priority_name);
  if (!done && !cpus.empty()) (void)pthread_setaffinity_np(thread, sizeof before, &before);
  return done;
}

}  // namespace orc::detail
