#include "base/process/stop_signal.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace orc::detail {

namespace {

// A signal handler can reach nothing but statics.
std::atomic<int> stop_number{0};
std::atomic<int> stop_fd{-1};
std::atomic<std::chrono::nanoseconds::rep> stopped_at{0};  // of clock; 0: no signal came

void on_signal(int number) {
  const int saved_errno = errno;
  const auto now = stop_signal::clock::now().time_since_epoch();
  auto first = decltype(now)::rep{0};
  if (!stopped_at.compare_exchange_strong(first, now.count())) {
    if (number == SIGINT && now - decltype(now)(first) >= stop_signal::patience) {
      signal(SIGINT, SIG_DFL);
      raise(SIGINT);  // takes effect when this handler returns
    }
    errno = saved_errno;
    return;
  }
  stop_number = number;
  const std::uint64_t one = 1;
  if (write(stop_fd, &one, sizeof one) < 0) {
    // The flag is set; whoever waits sees it at the latest when the wait ends.
  }
  errno = saved_errno;
}

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

timespec until(stop_signal::clock::time_point then) {
  using namespace std::chrono;
  const auto left = std::max(then - stop_signal::clock::now(), stop_signal::clock::duration::zero());
  const auto whole = duration_cast<seconds>(left);
  return {static_cast<time_t>(whole.count()), static_cast<long>(duration_cast<nanoseconds>(left - whole).count())};
}

}  // namespace

stop_signal::stop_signal() {
  stop_number = 0;
  stopped_at = 0;
  stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_fd < 0) throw std::system_error(errno, std::system_category(), "cannot make an eventfd");
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (const int number : signals) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // A signal that was ignored stays so: `nohup orc ...`.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

stop_signal::~stop_signal() {
  for (const int number : signals) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    // After a signal the process is about to end, and a second one must not cut that short.
    if (now.sa_handler == on_signal && stopped_at == 0) signal(number, SIG_DFL);
  }
  close(stop_fd.exchange(-1));
}

int stop_signal::number() noexcept { return stop_number; }

int stop_signal::fd() const noexcept { return stop_fd; }

bool stop_signal::wait_until(clock::time_point then) const noexcept {
  while (!raised() && clock::now() < then) {
    pollfd item = {stop_fd, POLLIN, 0};
    const timespec left = until(then);
    ppoll(&item, 1, &left, nullptr);
  }
  return raised();
}

bool stop_signal::wait_readable(int other_fd, clock::time_point then) const noexcept {
  while (!raised()) {
    pollfd items[] = {{stop_fd, POLLIN, 0}, {other_fd, POLLIN, 0}};
    const timespec left = until(then);
    if (ppoll(items, 2, &left, nullptr) > 0 && items[1].revents != 0) return true;
    if (clock::now() >= then) return false;
  }
  return false;
}

void stop_signal::leave_to_parent() noexcept {
  for (const int number : {SIGINT, SIGHUP}) signal(number, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
}

}  // namespace orc::detail
