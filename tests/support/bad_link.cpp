#include "support/bad_link.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace orc::test {

namespace {

constexpr std::size_t max_frame = 2048;  // of devices with an MTU of 1500

void write_frame(int to, const char* bytes, std::size_t size) {
  // A frame that the other kernel does not take is lost, as on any cable.
  if (::write(to, bytes, size) < 0) return;
}

}  // namespace

bad_link::bad_link(detail::unique_fd a, detail::unique_fd b, unsigned seed)
    : a_(std::move(a)), b_(std::move(b)), random_(seed), thread_([this] { run(); }) {}

bad_link::~bad_link() {
  stop_ = true;
  thread_.join();
}

void bad_link::set(const weather& now) {
  const std::lock_guard lock(mutex_);
  weather_ = now;
}

void bad_link::run() {
  std::array<pollfd, 2> ends{pollfd{a_.get(), POLLIN, 0}, pollfd{b_.get(), POLLIN, 0}};
  while (!stop_) {
    ::poll(ends.data(), ends.size(), waiting_.empty() ? 50 : 1);
    if ((ends[0].revents & POLLIN) != 0) pass_on(a_.get(), b_.get());
    if ((ends[1].revents & POLLIN) != 0) pass_on(b_.get(), a_.get());
    send_due();
  }
}

// All that has come in, for a burst must not fill the queue of the device; the devices do not block.
void bad_link::pass_on(int from, int to) {
  weather now;
  {
    const std::lock_guard lock(mutex_);
    now = weather_;
  }
  std::array<char, max_frame> bytes;
  for (int n = 0; n < 256; ++n) {
    const ssize_t size = ::read(from, bytes.data(), bytes.size());
    if (size <= 0) return;
    if (chance(now.loss) || (now.one_way && from == b_.get())) continue;
    const int copies = chance(now.duplicate) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      const auto delay = delay_of(now);
      if (delay == clock::duration::zero()) {
        write_frame(to, bytes.data(), static_cast<std::size_t>(size));
      } else {
        waiting_.push({clock::now() + delay, ++frames_, to, {bytes.data(), bytes.data() + size}});
      }
    }
  }
}

bad_link::clock::duration bad_link::delay_of(const weather& now) {
  if (chance(now.overtake)) return clock::duration::zero();
  const auto jitter = std::chrono::duration_cast<std::chrono::microseconds>(now.jitter).count();
  const std::chrono::microseconds off(std::uniform_int_distribution<std::int64_t>(-jitter, jitter)(random_));
  return std::max<clock::duration>(now.delay + off, clock::duration::zero());
}

void bad_link::send_due() {
  const auto now = clock::now();
  while (!waiting_.empty() && waiting_.top().due <= now) {
    const frame& next = waiting_.top();
    write_frame(next.to, next.bytes.data(), next.bytes.size());
    waiting_.pop();
  }
}

}  // namespace orc::test
