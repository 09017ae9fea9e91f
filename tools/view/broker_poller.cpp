#include "tools/view/broker_poller.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "orc/directory.h"
#include "tools/view/snapshot.h"
#include "tools/view/system_meter.h"

namespace orc::view {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int patience_ms = 2'000;  // a broker that restarts is back within this time

}  // namespace

std::chrono::milliseconds pause_after(std::chrono::nanoseconds took) noexcept {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(took) * 20, 500ms, 5'000ms);
}

broker_poller::broker_poller(const std::string& broker) {
  (void)news_.fd();
  (void)stop_.fd();
  // These are the main thread's.
  sigset_t others;
  sigset_t before;
  sigemptyset(&others);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&others, number);
  pthread_sigmask(SIG_BLOCK, &others, &before);
  try {
    thread_ = std::thread([this, broker] { run(broker); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

broker_poller::~broker_poller() {
  stop_.ring();
  thread_.join();
}

observation broker_poller::newest() {
  const std::lock_guard lock(mutex_);
  news_.clear();
  return newest_;
}

void broker_poller::tell(observation made) {
  const std::lock_guard lock(mutex_);
  if (!made.figures) made.figures = newest_.figures;
  newest_ = std::move(made);
  news_.ring();
}

void broker_poller::run(const std::string& broker) {
  directory from({.broker = broker, .broker_timeout_ms = patience_ms, .stop_fd = stop_.fd()});
  system_meter meter;
  for (;;) {
    const auto asked = clock::now();
    snapshot found;
    observation made;
    if (const result answered = take_snapshot(from, found)) {
      made.figures = std::make_shared<const system_figures>(meter.take(std::move(found)));
      made.rates_known = meter.knows_rates();
    } else if (answered.code() == errc::closed) {
      return;
    } else {
      made.problem = answered.error().message();
    }
    tell(std::move(made));
    pollfd item = {stop_.fd(), POLLIN, 0};
    if (poll(&item, 1, static_cast<int>(pause_after(clock::now() - asked).count())) > 0) return;
  }
}

}  // namespace orc::view
