#include "orc/executor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/fork_generation.h"
#include "orc/clock.h"

namespace orc {

namespace {

// A receive has no way to learn of stop(), so it ends now and then.
constexpr std::chrono::nanoseconds longest_receive = std::chrono::milliseconds(20);
// While the program holds max_messages messages there is a sample that cannot be received.
constexpr std::chrono::nanoseconds pause_when_held = std::chrono::milliseconds(1);

// By orc::monotonic_ns, which a replay repeats. Nothing: never.
using moment = std::optional<std::int64_t>;

[[nodiscard]] moment after(std::chrono::nanoseconds time) noexcept {
  std::int64_t at = 0;
  if (time == forever || __builtin_add_overflow(monotonic_ns(), time.count(), &at)) return std::nullopt;
  return at;
}

[[nodiscard]] std::chrono::nanoseconds left_until(const moment& end, std::chrono::nanoseconds most) noexcept {
  if (!end) return most;
  return std::clamp(std::chrono::nanoseconds(*end - monotonic_ns()), std::chrono::nanoseconds(0), most);
}

[[nodiscard]] timespec timespec_of(std::chrono::nanoseconds time) noexcept {
  return {static_cast<time_t>(time.count() / 1'000'000'000), static_cast<long>(time.count() % 1'000'000'000)};
}

[[nodiscard]] bool ends_the_run(errc outcome) noexcept {
  return outcome == errc::closed || outcome == errc::no_descriptors || outcome == errc::forked;
}

}  // namespace

struct executor::core {
  struct entry {
    id number = 0;
    subscriber from;
    std::function<void(message&&)> call;
    int fd = -1;                // made when there is a second subscription
    bool may_have_more = true;  // since the last look at the descriptor
    bool removed = false;       // the callback may be running, so the entry goes before the next turn
  };

  // Calls back until `end`, stop(), or the first callback if `once`.
  result run(const moment& end, bool once);

  std::vector<std::unique_ptr<entry>> entries;
  std::vector<pollfd> watched;  // the bell, then each entry
  std::atomic<bool> stopping{false};
  const detail::unique_fd bell{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  id last = 0;

 private:
  // These wait until `end` for a sample, and call back for each subscription that has one. They return ok when they
  // called back, nothing_new, perhaps before `end`, or what ends the run.
  errc turn(const moment& end);
  errc turn_of_all(const moment& end);
  errc take(entry& from, std::chrono::nanoseconds timeout);
  bool look_at_descriptors(const moment& end) noexcept;
  void pause(const moment& end) noexcept;
  void clear_bell() noexcept;

  const unsigned generation_ = (detail::count_forks(), detail::fork_generation());
  bool running_ = false;
};

result executor::core::run(const moment& end, bool once) {
  if (running_) return {errc::bad_argument, "a callback cannot run the executor that called it"};
  running_ = true;
  const struct guard {
    bool& running;
    ~guard() { running = false; }
  } until_return{running_};
  for (;;) {
    if (generation_ != detail::fork_generation()) return errc::forked;
    if (stopping.exchange(false)) return once ? errc::timed_out : errc::ok;
    const errc done = turn(end);
    const bool stopped = stopping.exchange(false);
    if (ends_the_run(done)) return done;
    if (once && done == errc::ok) return errc::ok;
    if (stopped) return once ? errc::timed_out : errc::ok;
    if (end && monotonic_ns() >= *end) return once ? errc::timed_out : errc::ok;
  }
}

errc executor::core::turn(const moment& end) {
  std::erase_if(entries, [](const auto& each) { return each->removed; });
  if (entries.empty()) return errc::closed;
  if (entries.size() > 1) return turn_of_all(end);
  entry& only = *entries.front();
  const errc taken = take(only, left_until(end, longest_receive));
  only.may_have_more = true;  // should another subscription come
  if (taken == errc::too_many_messages) pause(end);
  return taken;
}

errc executor::core::turn_of_all(const moment& end) {
  if (!look_at_descriptors(end)) return errc::no_descriptors;
  errc outcome = errc::nothing_new;
  const std::size_t count = entries.size();  // a callback may add more, for the next turn
  for (std::size_t i = 0; i < count && !stopping; ++i) {
    if (entries[i]->removed || !entries[i]->may_have_more) continue;
    const errc taken = take(*entries[i], std::chrono::nanoseconds(0));
    if (taken == errc::forked) return taken;
    if (outcome != errc::ok && taken != errc::nothing_new) outcome = taken;
  }
  if (outcome == errc::too_many_messages) pause(end);
  return outcome;
}

errc executor::core::take(entry& from, std::chrono::nanoseconds timeout) {
  message sample = from.from.recv(timeout);
  switch (const errc status = sample.status()) {
    case errc::ok: from.call(std::move(sample)); return errc::ok;
    case errc::closed: from.removed = true; return errc::nothing_new;
    case errc::too_many_messages: return status;  // it is still there, and rings no more
    case errc::forked: from.may_have_more = false; return status;
    default: from.may_have_more = false; return errc::nothing_new;
  }
}

// False: there are no descriptors.
bool executor::core::look_at_descriptors(const moment& end) noexcept {
  bool all_are_empty = true;
  watched.assign(1, {bell.get(), POLLIN, 0});
  for (const auto& each : entries) {
    if (each->fd < 0) each->fd = each->from.fd();
    if (each->fd < 0 && !each->may_have_more) return false;
    watched.push_back({each->fd, POLLIN, 0});
    all_are_empty = all_are_empty && !each->may_have_more;
  }
  const auto left = all_are_empty ? left_until(end, forever) : std::chrono::nanoseconds(0);
  const timespec limit = timespec_of(left);
  if (ppoll(watched.data(), watched.size(), left == forever ? nullptr : &limit, nullptr) <= 0)
    return static_cast<bool>(bell);
  if (watched[0].revents != 0) clear_bell();
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (watched[i + 1].revents != 0) entries[i]->may_have_more = true;
  return static_cast<bool>(bell);
}

void executor::core::pause(const moment& end) noexcept {
  pollfd stopped{bell.get(), POLLIN, 0};
  const timespec limit = timespec_of(left_until(end, pause_when_held));
  if (ppoll(&stopped, 1, &limit, nullptr) > 0) clear_bell();
}

void executor::core::clear_bell() noexcept {
  eventfd_t rings = 0;
  (void)eventfd_read(bell.get(), &rings);
}

executor::executor() : core_(std::make_unique<core>()) {}
executor::~executor() = default;

executor::id executor::on_sample(subscriber from, std::function<void(message&&)> callback) {
  if (!from) return 0;
  auto made = std::make_unique<core::entry>();
  made->number = ++core_->last;
  made->from = std::move(from);
  made->call = std::move(callback);
  core_->watched.reserve(core_->entries.size() + 2);  // so that run() takes no memory
  core_->entries.push_back(std::move(made));
  return core_->last;
}

void executor::remove(id callback) noexcept {
  for (const auto& each : core_->entries)
    if (each->number == callback) each->removed = true;
}

result executor::run() { return core_->run(std::nullopt, false); }

result executor::run_for(std::chrono::nanoseconds duration) {
  if (duration.count() < 0) return {errc::bad_argument, "a duration is 0 or more; orc::forever is without limit"};
  return core_->run(after(duration), false);
}

result executor::run_once(std::chrono::nanoseconds timeout) {
  if (timeout.count() < 0) return {errc::bad_argument, "a timeout is 0 or more; orc::forever waits without limit"};
  result done = core_->run(after(timeout), true);
  return done.code() == errc::timed_out && timeout.count() == 0 ? result(errc::nothing_new) : done;
}

void executor::stop() noexcept {
  const int kept = errno;  // of the code that a signal interrupts
  core_->stopping = true;
  (void)eventfd_write(core_->bell.get(), 1);
  errno = kept;
}

}  // namespace orc
