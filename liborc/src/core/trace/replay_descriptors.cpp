#include "core/trace/replay_descriptors.h"

#include <sys/timerfd.h>

#include <algorithm>

namespace orc::detail {

namespace {

using wire::trace_kind;

constexpr std::size_t max_run = 64;  // of receives that one poll may have announced

// Never readable without a time, and at once with one that has passed.
void set_readable(int timer, std::optional<replay_clock::moment> at) noexcept {
  itimerspec when{};
  if (at) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(*at - std::chrono::steady_clock::now());
    const std::int64_t ns = std::max<std::int64_t>(1, left.count());
    when.it_value = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  timerfd_settime(timer, 0, &when, nullptr);
}

constexpr replay_clock::moment at_once{};

}  // namespace

int replay_descriptors::of(std::uint32_t subscription) {
  auto& own = all_[subscription];
  if (!own.timer) own.timer.reset(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (finished_) set_readable(own.timer.get(), at_once);
  return own.timer.get();
}

void replay_descriptors::announce(const wire::trace_index& index, std::uint32_t thread, std::uint32_t position,
                                  const replay_clock& clock) {
  if (all_.empty() || finished_) return;
  const auto& calls = index.calls();
  const auto& own = index.threads()[thread];
  std::unordered_map<std::uint32_t, std::int64_t> now;  // subscription: since when
  for (std::uint32_t each = position; each < own.size() && each - position < max_run; ++each) {
    const auto& call = calls[own[each]];
    if (call.kind != trace_kind::receive) break;
    if (each == position || index.was_readable(own[position], call.number))
      now.emplace(call.number, calls[own[position]].at_ns);
  }
  for (auto& [number, each] : all_) {
    const auto found = now.find(number);
    if (found != now.end()) {
      each.thread = thread;
      set_readable(each.timer.get(), clock.due(found->second).value_or(at_once));
    } else if (each.thread == thread) {
      each.thread = UINT32_MAX;
      set_readable(each.timer.get(), std::nullopt);
    }
  }
}

void replay_descriptors::finish() noexcept {
  finished_ = true;
  for (const auto& [number, each] : all_) set_readable(each.timer.get(), at_once);
}

}  // namespace orc::detail
