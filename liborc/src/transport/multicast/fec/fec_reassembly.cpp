#include "transport/multicast/fec/fec_reassembly.h"

#include <algorithm>
#include <new>

namespace orc::detail::multicast {

reassembly::outcome fec_reassembly::add(const source& from, const fec_packet& packet, monotonic::time_point now,
                                        sample_buffer& done) noexcept {
  expire(now);
  const auto found = std::find_if(partials_.begin(), partials_.end(), [&](const auto& each) {
    return each->sequence == packet.sequence && each->from == from;
  });
  partial* const p = found != partials_.end() ? found->get() : begin(from, packet);
  if (p == nullptr) return reassembly::outcome::refused;
  p->moved = now;
  switch (p->assembly->add(packet, code_)) {
    case fec_added::more: return reassembly::outcome::more;
    case fec_added::duplicate: return reassembly::outcome::duplicate;
    case fec_added::mismatch: return reassembly::outcome::refused;
    case fec_added::complete: break;
  }
  done = std::move(p->buffer);
  std::erase_if(partials_, [&](const auto& each) {
    if (each.get() == p) bytes_ -= each->cost;
    return each.get() == p;
  });
  return reassembly::outcome::complete;
}

fec_reassembly::partial* fec_reassembly::begin(const source& from, const fec_packet& packet) noexcept {
  const std::size_t needed = packet.plan.size() + fec_assembly::max_held_bytes(packet.plan);
  if (needed > max_bytes_) return nullptr;
  while (partials_.size() >= max_messages || bytes_ + needed > max_bytes_) {
    const auto oldest = std::min_element(partials_.begin(), partials_.end(),
                                         [](const auto& a, const auto& b) { return a->moved < b->moved; });
    drop(static_cast<std::size_t>(oldest - partials_.begin()));
  }
  try {
    auto fresh = std::make_unique<partial>();
    fresh->from = from;
    fresh->sequence = packet.sequence;
    fresh->cost = needed;
    fresh->buffer = allocate_frame(packet.plan.size());
    if (!fresh->buffer) return nullptr;
    fresh->assembly = fec_assembly::make(packet, {fresh->buffer.payload(), fresh->buffer.size()});
    if (!fresh->assembly) return nullptr;
    partials_.push_back(std::move(fresh));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  bytes_ += needed;
  return partials_.back().get();
}

void fec_reassembly::expire(monotonic::time_point now) noexcept {
  for (std::size_t i = partials_.size(); i-- > 0;) {
    if (now - partials_[i]->moved > reassembly::longest) drop(i);
  }
}

void fec_reassembly::drop(std::size_t index) noexcept {
  bytes_ -= partials_[index]->cost;
  partials_.erase(partials_.begin() + static_cast<std::ptrdiff_t>(index));
}

void fec_reassembly::forget_through(const source& from, std::uint64_t sequence) noexcept {
  for (std::size_t i = partials_.size(); i-- > 0;) {
    if (partials_[i]->from == from && partials_[i]->sequence <= sequence) drop(i);
  }
}

}  // namespace orc::detail::multicast
