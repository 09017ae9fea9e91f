#include "tools/orc/play/player.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/threads/fine_timers.h"
#include "tools/support/clock.h"

namespace orc::cli {

namespace {

// Before a sample is due the thread leaves the wait that a command can end, and sleeps to the exact time.
constexpr std::int64_t last_wait_ns = 1'000'000;

int make_eventfd() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::system_category(), "cannot make an eventfd");
  return fd;
}

void ring(int fd) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(fd, &one, sizeof one));  // full: it is readable already
}

void clear(int fd) noexcept {
  std::uint64_t count = 0;
  static_cast<void>(!::read(fd, &count, sizeof count));
}

}  // namespace

player::player(merged_recording& source, play_sink& to, const play_range& range, double rate, bool paused)
    : to_(to),
      range_(range),
      ahead_(source, range),
      command_fd_(make_eventfd()),
      change_fd_(make_eventfd()),
      target_ns_(range.from_ns),
      timeline_(range.from_ns, rate, paused) {
  timeline_.jump(range.from_ns, bench::now_ns());
}

player::~player() { stop(); }

void player::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  command();
  if (thread_.joinable()) thread_.join();
}

void player::start() {
  thread_ = std::thread([this] { run(); });
}

void player::pause() {
  {
    const std::lock_guard lock(mutex_);
    timeline_.pause(bench::now_ns());
    steps_wanted_ = 0;
  }
  command();
}

void player::resume() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.at_end && !seek_wanted_) return;
    timeline_.resume(bench::now_ns());
    steps_wanted_ = 0;
  }
  command();
}

void player::step() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.at_end) return;
    if (!timeline_.paused()) timeline_.pause(bench::now_ns());
    ++steps_wanted_;
  }
  command();
}

void player::seek_by(std::int64_t ns) {
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t from = seek_wanted_.value_or(timeline_.position_ns(bench::now_ns()));
    seek_wanted_ = std::clamp(from + ns, range_.from_ns, range_.to_ns);
    steps_wanted_ = 0;
  }
  command();
}

void player::seek_to(std::int64_t position_ns) {
  {
    const std::lock_guard lock(mutex_);
    seek_wanted_ = std::clamp(position_ns, range_.from_ns, range_.to_ns);
    steps_wanted_ = 0;
  }
  command();
}

void player::set_rate(double rate) {
  {
    const std::lock_guard lock(mutex_);
    timeline_.set_rate(rate, bench::now_ns());
  }
  command();
}

play_status player::status() const {
  const std::lock_guard lock(mutex_);
  play_status now = status_;
  now.position_ns = std::min(seek_wanted_.value_or(timeline_.position_ns(bench::now_ns())), range_.to_ns);
  now.rate = timeline_.rate();
  now.paused = timeline_.paused();
  return now;
}

void player::clear_change() noexcept { clear(change_fd_.get()); }

std::vector<std::string> player::problems() {
  std::vector<std::string> all = ahead_.problems();
  const std::lock_guard lock(mutex_);
  all.insert(all.end(), remarks_.begin(), remarks_.end());
  remarks_.clear();
  return all;
}

// The thread must learn of a command wherever it waits: in a sleep, or for the disk.
void player::command() {
  commanded_ = true;
  ring(command_fd_.get());
  ahead_.interrupt();
  announce();
}

void player::announce() noexcept { ring(change_fd_.get()); }

void player::run() {
  detail::fine_timers();
  while (!over_) {
    if (commanded_) obey();
    if (over_) break;
    const play_batch::entry* const next = next_entry();
    if (next != nullptr && play(*next)) ++next_;
  }
  {
    const std::lock_guard lock(mutex_);
    timeline_.pause(bench::now_ns());
    status_.ended = !stop_;
  }
  announce();
}

void player::obey() {
  clear(command_fd_.get());
  commanded_ = false;
  const std::lock_guard lock(mutex_);
  if (stop_) over_ = true;
  if (!seek_wanted_) return;
  target_ns_ = *std::exchange(seek_wanted_, std::nullopt);
  ahead_.seek(target_ns_);
  to_.jumped();
  batch_.reset();
  next_ = 0;
  fresh_ = true;
  status_.at_end = false;
  timeline_.jump(target_ns_, bench::now_ns());
}

void player::reach_end() {
  {
    const std::lock_guard lock(mutex_);
    if (seek_wanted_) return;  // it leads back
    if (range_.stay) timeline_.pause(bench::now_ns());
    status_.at_end = timeline_.paused();
    if (!status_.at_end) over_ = true;
    if (over_) return;
  }
  announce();
  wait_for_command();
}

const play_batch::entry* player::next_entry() {
  while (!batch_ || next_ == batch_->entries.size()) {
    if (batch_ && batch_->last) {
      reach_end();
      return nullptr;
    }
    ahead_.give_back(std::move(batch_));
    next_ = 0;
    batch_ = ahead_.take();
    if (!batch_) return nullptr;
    for (const merged_channel& each : batch_->new_channels) {
      if (const result added = to_.add(each); !added) fail(added);
    }
    if (batch_->new_channels.empty()) continue;
    const std::vector<std::string> remarks = to_.remarks();
    const std::lock_guard lock(mutex_);
    remarks_.insert(remarks_.end(), remarks.begin(), remarks.end());
  }
  return over_ ? nullptr : &batch_->entries[next_];
}

bool player::play(const play_batch::entry& entry) {
  if (entry.what == kind::state) return publish(entry);
  std::unique_lock lock(mutex_);
  if (std::exchange(fresh_, false)) timeline_.jump(target_ns_, bench::now_ns());
  const bool paused = timeline_.paused();
  std::int64_t due = bench::now_ns();
  if (!paused) {
    due = timeline_.due_ns(entry.time_ns);
  } else if (steps_wanted_ == 0) {
    lock.unlock();
    wait_for_command();
    return false;
  } else if (entry.what == kind::sample) {
    --steps_wanted_;
    timeline_.jump(entry.time_ns, due);
  }
  lock.unlock();
  if (!paused && !wait_until(due)) return false;
  if (entry.what == kind::sample) {
    const std::int64_t behind = bench::now_ns() - due;
    if (!publish(entry)) return false;
    if (paused) return announce(), true;
    lock.lock();
    status_.behind_ns = std::max(status_.behind_ns, behind);
    return true;
  }
  to_.jumped();
  lock.lock();
  timeline_.jump(range_.from_ns, due);
  return true;
}

bool player::publish(const play_batch::entry& entry) {
  const played_sample sample{entry.channel, entry.time_ns, entry.stamp_ns, entry.sequence, batch_->bytes(entry)};
  if (const result sent = to_.publish(sample); !sent) {
    fail(sent);
    return false;
  }
  const std::lock_guard lock(mutex_);
  ++status_.samples;
  status_.bytes += entry.size;
  return true;
}

bool player::wait_until(std::int64_t due_ns) const {
  while (!commanded_) {
    const std::int64_t left = due_ns - bench::now_ns();
    if (left <= 0) return true;
    if (left <= 2 * last_wait_ns) {
      bench::sleep_until_ns(due_ns);
      continue;
    }
    pollfd item = {command_fd_.get(), POLLIN, 0};
    const std::int64_t wait = left - last_wait_ns;
    const timespec time = {static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
    ppoll(&item, 1, &time, nullptr);
  }
  return false;
}

void player::wait_for_command() const {
  pollfd item = {command_fd_.get(), POLLIN, 0};
  poll(&item, 1, -1);
}

void player::fail(const result& why) {
  over_ = true;
  const std::lock_guard lock(mutex_);
  status_.failure = why.error().message();
}

}  // namespace orc::cli
