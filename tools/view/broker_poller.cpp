#include "tools/view/broker_poller.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "orc/directory.h"
#include "tools/view/snapshot.h"
#include "tools/view/system_meter.h"

namespace orc::view {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::milliseconds(2'000);  // a broker that restarts is back within this time

}  // namespace

std::chrono::milliseconds pause_after(std::chrono::nanoseconds took) noexcept {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(took) * 20, 500ms, 5'000ms);
}

broker_poller::broker_poller(const std::string& broker, bool all) : all_(all) {
  for (detail::doorbell* const each : {&news_, &stop_, &again_}) (void)each->fd();
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

void broker_poller::show_all(bool all) {
  all_ = all;
  again_.ring();
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
  directory from({.broker = broker, .broker_timeout = patience, .stop_fd = stop_.fd()});
  system_meter meter;
  for (;;) {
    const auto asked = clock::now();
    again_.clear();
    snapshot found;
    observation made;
    if (const result answered = take_snapshot(from, all_, found)) {
      made.figures = std::make_shared<const system_figures>(meter.take(std::move(found)));
      made.rates_known = meter.knows_rates();
    } else if (answered.code() == errc::closed) {
      return;
    } else {
      made.problem = answered.error().message();
    }
    tell(std::move(made));
    std::array<pollfd, 2> items{{{stop_.fd(), POLLIN, 0}, {again_.fd(), POLLIN, 0}}};
    poll(items.data(), items.size(), static_cast<int>(pause_after(clock::now() - asked).count()));
    if (items[0].revents != 0) return;
  }
}

}  // namespace orc::view
