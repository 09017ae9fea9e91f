#include "tools/orc/play/play_clock.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "orc/typed/struct.h"
#include "tools/support/clock.h"

namespace orc::cli {

namespace {

constexpr std::int64_t period_ns = 10'000'000;

}  // namespace

result play_clock::make(const std::string& topic, play_output& to, publisher& made) {
  topic_options options;
  options.type = type_traits<Clock>::describe();
  return to.add_topic(topic, options, made);
}

play_clock::play_clock(publisher to, const player& of)
    : to_(std::move(to)), of_(of), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

play_clock::~play_clock() {
  stop_ = true;
  changed();
  thread_.join();
}

void play_clock::changed() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_fd_.get(), &one, sizeof one));
}

void play_clock::run() {
  std::int64_t due = bench::now_ns();
  while (!stop_) {
    const play_status now = of_.status();
    const Clock sample{now.position_ns, now.rate, now.paused};
    static_cast<void>(to_.send(&sample, sizeof sample));  // of so few bytes it fails only when the topic has ended
    if (bench::now_ns() >= due) due = std::max(due + period_ns, bench::now_ns());
    const std::int64_t wait = std::max<std::int64_t>(due - bench::now_ns(), 0);
    const timespec time = {static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
    pollfd item = {wake_fd_.get(), POLLIN, 0};
    if (ppoll(&item, 1, &time, nullptr) > 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_fd_.get(), &count, sizeof count));
    }
  }
}

}  // namespace orc::cli
