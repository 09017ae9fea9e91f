#include "orc/history/past.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace orc {

namespace {

// Publishers choose their stamps, so the distance may be more than a signed number holds.
[[nodiscard]] std::uint64_t distance(std::int64_t earlier, std::int64_t later) noexcept {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

}  // namespace

past::past(const history_options& limits) noexcept
    : most_samples_(std::max<std::size_t>(limits.samples, 1)),
      age_ns_(limits.age.count()),
      max_bytes_(limits.max_bytes) {}

errc past::keep(const message& sample) noexcept try {
  const auto bytes = sample.bytes();
  if (!sample || bytes.size() > max_bytes_) return errc::bad_argument;
  if (was_set_back(sample)) clear();
  const std::int64_t newest = count_ != 0 ? std::max(at(count_ - 1).stamp_ns, sample.stamp_ns()) : sample.stamp_ns();
  if (is_too_old(sample, newest)) return errc::ok;
  make_room(bytes.size(), newest);
  if (count_ == ring_.size()) grow();
  entry& kept = ring_[place_of(count_)];
  kept.bytes.resize(bytes.size());
  if (!bytes.empty()) std::memcpy(kept.bytes.data(), bytes.data(), bytes.size());
  kept.sequence = sample.sequence();
  kept.stamp_ns = sample.stamp_ns();
  kept.missed = sample.missed();
  kept.publisher = sample.publisher();
  ++count_;
  bytes_ += bytes.size();
  move_to_its_place();
  return errc::ok;
} catch (const std::bad_alloc&) {
  return errc::no_memory;
}

// Samples of several publishers arrive out of order, but those of one do not.
bool past::was_set_back(const message& sample) const noexcept {
  for (std::size_t i = count_; i != 0 && at(i - 1).stamp_ns > sample.stamp_ns(); --i) {
    if (sample.publisher() == 0 || at(i - 1).publisher == sample.publisher()) return true;
  }
  return false;
}

bool past::is_too_old(const message& sample, std::int64_t newest) const noexcept {
  if (age_ns_ > 0 && distance(sample.stamp_ns(), newest) > static_cast<std::uint64_t>(age_ns_)) return true;
  if (sample.stamp_ns() >= newest) return false;
  std::size_t bytes = sample.size();  // with those that were sent later
  std::size_t i = count_;
  for (; i != 0 && at(i - 1).stamp_ns > sample.stamp_ns(); --i) bytes += at(i - 1).bytes.size();
  return bytes > max_bytes_ || (i == 0 && count_ == most_samples_);
}

void past::move_to_its_place() noexcept {
  for (std::size_t i = count_ - 1; i != 0 && at(i).stamp_ns < at(i - 1).stamp_ns; --i)
    std::swap(ring_[place_of(i)], ring_[place_of(i - 1)]);
}

void past::clear() noexcept {
  while (count_ != 0) drop_oldest();
}

past_sample past::operator[](std::size_t index) const noexcept {
  const entry& kept = at(index);
  return {kept.bytes, kept.sequence, kept.stamp_ns, kept.missed, kept.publisher};
}

std::size_t past::before(std::int64_t stamp_ns) const noexcept { return search(stamp_ns, false); }
std::size_t past::until(std::int64_t stamp_ns) const noexcept { return search(stamp_ns, true); }

std::size_t past::search(std::int64_t stamp_ns, bool or_equal) const noexcept {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::int64_t found = at(middle).stamp_ns;
    if (found < stamp_ns || (or_equal && found == stamp_ns))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void past::drop_oldest() noexcept {
  entry& oldest = ring_[first_];
  bytes_ -= oldest.bytes.size();
  // What is reused must not add up to more than the limit: a large sample gives its memory back.
  if (oldest.bytes.capacity() > max_bytes_ / most_samples_) std::vector<std::byte>().swap(oldest.bytes);
  first_ = place_of(1);
  --count_;
}

void past::make_room(std::size_t bytes, std::int64_t newest) noexcept {
  if (count_ == most_samples_) drop_oldest();
  while (count_ != 0 && bytes_ + bytes > max_bytes_) drop_oldest();
  while (count_ != 0 && age_ns_ > 0 && distance(at(0).stamp_ns, newest) > static_cast<std::uint64_t>(age_ns_))
    drop_oldest();
}

void past::grow() {
  std::vector<entry> larger(std::min(most_samples_, std::max<std::size_t>(16, ring_.size() * 2)));
  for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(ring_[place_of(i)]);
  ring_ = std::move(larger);
  first_ = 0;
}

}  // namespace orc
