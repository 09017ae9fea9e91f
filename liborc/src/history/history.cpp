#include "orc/history/history.h"

namespace orc {

errc history::receive(std::chrono::nanoseconds timeout, std::size_t most) noexcept {
  message sample = from_.recv(timeout);
  if (!sample) return sample.status();
  errc kept = kept_.keep(sample);
  // A publisher that is faster than this thread must not hold it here for ever.
  for (std::size_t n = 1; n < most; ++n) {
    sample = from_.recv(0);
    if (!sample) break;
    kept = kept_.keep(sample);
  }
  return kept;
}

std::optional<past_sample> history::at(std::int64_t stamp_ns) const noexcept {
  const std::size_t later = kept_.until(stamp_ns);
  if (later == 0) return {};
  return kept_[later - 1];
}

past_range history::between(std::int64_t from_ns, std::int64_t to_ns) const noexcept {
  return {kept_, kept_.before(from_ns), kept_.until(to_ns)};
}

}  // namespace orc
