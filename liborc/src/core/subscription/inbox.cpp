#include "core/subscription/inbox.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_per_pull = 16 * 1024;  // a publisher that is faster than this thread must not keep the lock
constexpr std::size_t max_bytes_per_pull = 16 * 1024 * 1024;

}  // namespace

inbox::inbox(std::uint32_t depth, std::chrono::nanoseconds max_age)
    : in_order_(depth != 0), max_age_ns_(max_age.count()), queue_(std::max<std::uint32_t>(1, depth)) {}

void inbox::begin_link(const subscriber_link& link) noexcept {
  dry_ = false;
  gaps_.begin_link(link.newest_at_join());
}

bool inbox::accept(sample&& s) noexcept {
  if (!count(s)) return false;
  // A full queue drops its first sample. Nothing else counts it when it is of an earlier publication.
  if (in_order_ && queue_.full() && gaps_.is_of_earlier_publication(queue_.front())) gaps_.dropped(queue_.front());
  queue_.push(std::move(s));
  return true;
}

bool inbox::count(sample& s) noexcept {
  if (!gaps_.arrived(s)) return false;  // repeated after a reconnection
  ++received_;
  bytes_ += s.buffer.size();
  if (std::exchange(age_is_old_, false)) age_ns_ = age_of(s.stamp_ns);
  return true;
}

bool inbox::pull(subscriber_link& link, pick which) noexcept {
  const bool one_at_a_time = link.keeps_samples();
  if (one_at_a_time && !queue_.empty() && (in_order_ || which == pick::next)) return false;
  bool found = false;
  sample s;
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < max_per_pull && bytes < max_bytes_per_pull && link.try_recv(s, which); ++n) {
    bytes += s.buffer.size();
    found = accept(std::move(s)) || found;
    if (!in_order_ || (one_at_a_time && found)) break;  // nothing is left, or it should stay in the link
  }
  dry_ = link.fd() >= 0 && !link.has_more();
  return found;
}

void inbox::save(subscriber_link& link) noexcept {
  link.drain();
  if (!link.keeps_samples() || !in_order_) {
    pull(link);
    return;
  }
  sample s;
  for (std::size_t n = 0; n < max_per_pull && link.try_recv(s); ++n) {
    s.buffer = share_frame(s.buffer);
    if (!s.buffer) return;
    accept(std::move(s));
  }
}

bool inbox::take(sample& out) noexcept {
  while (queue_.pop(out)) {
    if (!drop_if_old(out)) return true;
  }
  return false;
}

bool inbox::take_from(subscriber_link& link, pick which, sample& out) noexcept {
  for (std::size_t n = 0; n < max_per_pull && link.try_recv(out, which); ++n) {
    if (count(out) && !drop_if_old(out)) return true;
  }
  return false;
}

bool inbox::drop_if_old(const sample& s) noexcept {
  if (max_age_ns_ == 0 || age_of(s.stamp_ns) <= max_age_ns_) return false;
  ++stale_;
  gaps_.dropped(s);
  return true;
}

void inbox::report(wire::subscription_counters& to) noexcept {
  age_is_old_ = true;
  to.received = received_;
  to.bytes = bytes_;
  to.missed = gaps_.missed();
  to.stale = stale_;
  to.age_ns = age_ns_;
}

}  // namespace orc::detail
