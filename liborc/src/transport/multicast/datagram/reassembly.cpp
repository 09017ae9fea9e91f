#include "transport/multicast/datagram/reassembly.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace orc::detail::multicast {

reassembly::outcome reassembly::add(const source& from, const lcm::datagram& d, std::int64_t stamp_ns,
                                    monotonic::time_point now, message& done) noexcept {
  partial* p = find(from, d.number);
  // A sender that began again may reuse a number: drops what contradicts the newer message.
  if (p != nullptr && (p->what.buffer.size() != d.size || p->extents.size() != d.fragments)) {
    drop(static_cast<std::size_t>(p - partials_.data()));
    p = nullptr;
  }
  if (p == nullptr) {
    p = begin(from, d);
    if (p == nullptr) return outcome::refused;
    p->what.stamp_ns = stamp_ns;
  }
  extent& at = p->extents[d.fragment];
  if (at.size != 0) return outcome::duplicate;
  at = {d.offset, static_cast<std::uint32_t>(d.payload.size())};
  std::memcpy(p->what.buffer.payload() + d.offset, d.payload.data(), d.payload.size());
  p->moved = now;
  if (++p->here != p->extents.size()) return outcome::more;
  const bool whole = is_whole(*p);
  if (whole) done = std::move(p->what);
  remove(static_cast<std::size_t>(p - partials_.data()));
  if (!whole) ++given_up_;
  return whole ? outcome::complete : outcome::refused;
}

// True when the fragments follow each other without gap or overlap, so that all bytes are the sender's.
bool reassembly::is_whole(const partial& p) noexcept {
  std::uint64_t next = 0;
  for (const extent& each : p.extents) {
    if (each.offset != next) return false;
    next += each.size;
  }
  return next == p.what.buffer.size();
}

reassembly::partial* reassembly::find(const source& from, std::uint32_t number) noexcept {
  const auto found = std::find_if(partials_.begin(), partials_.end(),
                                  [&](const partial& p) { return p.what.number == number && p.what.from == from; });
  return found == partials_.end() ? nullptr : &*found;
}

// The message without progress for longest makes room.
reassembly::partial* reassembly::begin(const source& from, const lcm::datagram& d) noexcept {
  const std::size_t needed = d.size + d.fragments * sizeof(extent);
  if (needed > max_bytes_) return nullptr;
  while (partials_.size() >= max_messages || bytes_ + needed > max_bytes_) {
    const auto oldest = std::min_element(partials_.begin(), partials_.end(),
                                         [](const partial& a, const partial& b) { return a.moved < b.moved; });
    drop(static_cast<std::size_t>(oldest - partials_.begin()));
  }
  try {
    partial fresh;
    fresh.what.from = from;
    fresh.what.number = d.number;
    fresh.what.buffer = allocate_frame(d.size);
    if (!fresh.what.buffer) return nullptr;
    fresh.extents = std::move(spare_);
    fresh.extents.assign(d.fragments, {});
    fresh.cost = needed;
    partials_.push_back(std::move(fresh));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  bytes_ += needed;
  return &partials_.back();
}

void reassembly::drop(std::size_t index) noexcept {
  ++given_up_;
  remove(index);
}

void reassembly::remove(std::size_t index) noexcept {
  bytes_ -= partials_[index].cost;
  spare_ = std::move(partials_[index].extents);
  partials_.erase(partials_.begin() + static_cast<std::ptrdiff_t>(index));
}

void reassembly::missing(const source& from, std::uint32_t number, std::size_t most,
                         orc_datagram& report) const noexcept {
  report.gap_count = 0;
  const auto p = std::find_if(partials_.begin(), partials_.end(), [&](const partial& each) {
    return each.what.number == number && each.what.from == from;
  });
  if (p == partials_.end()) {
    report.gaps[report.gap_count++] = {0, static_cast<std::uint16_t>(std::min<std::size_t>(most, UINT16_MAX))};
    return;
  }
  std::size_t fragments = 0;
  for (std::size_t i = 0; i < p->extents.size() && fragments < most; ++i) {
    if (p->extents[i].size != 0) continue;
    auto* const last = report.gap_count == 0 ? nullptr : &report.gaps[report.gap_count - 1];
    if (last != nullptr && last->first + last->count == i) {
      ++last->count;
    } else {
      if (report.gap_count == orc_datagram::max_gaps) return;
      report.gaps[report.gap_count++] = {static_cast<std::uint16_t>(i), 1};
    }
    ++fragments;
  }
}

void reassembly::forget(const source& from, std::uint32_t number) noexcept {
  if (const partial* const p = find(from, number)) drop(static_cast<std::size_t>(p - partials_.data()));
}

void reassembly::forget_through(const source& from, std::uint32_t number) noexcept {
  for (std::size_t i = partials_.size(); i-- > 0;) {
    if (partials_[i].what.from == from && ahead(number, partials_[i].what.number) >= 0) drop(i);
  }
}

void reassembly::expire(monotonic::time_point now) noexcept {
  for (std::size_t i = partials_.size(); i-- > 0;) {
    if (now - partials_[i].moved > longest) drop(i);
  }
}

}  // namespace orc::detail::multicast
