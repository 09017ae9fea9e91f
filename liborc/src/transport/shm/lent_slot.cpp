#include "transport/shm/lent_slot.h"

#include <new>
#include <utility>

namespace orc::detail::shm {

namespace {

struct lent {
  std::shared_ptr<slot_writer> of;
  std::uint32_t slot;
};
static_assert(sizeof(lent) <= 64 && alignof(lent) <= 8, "sample_buffer has room for it");

lent& stored(sample_buffer& buffer) noexcept { return *std::launder(static_cast<lent*>(buffer.storage())); }

void move_lent(sample_buffer& to, sample_buffer& from) noexcept {
  ::new (to.storage()) lent(std::move(stored(from)));
  stored(from).~lent();
}

void drop_lent(sample_buffer& buffer) noexcept {
  lent& l = stored(buffer);
  l.of->let_go(l.slot);
  l.~lent();
}

std::byte* payload_of_lent(sample_buffer& buffer) noexcept { return stored(buffer).of->payload(stored(buffer).slot); }

void share_lent(sample_buffer& to, sample_buffer& from) noexcept {
  const lent& l = stored(from);
  l.of->hold(l.slot);
  ::new (to.storage()) lent(l);
}

constexpr sample_buffer::operations lent_operations{move_lent, drop_lent, payload_of_lent, share_lent};

}  // namespace

sample_buffer lent_buffer(std::shared_ptr<slot_writer> of, std::uint32_t slot, std::size_t size) noexcept {
  sample_buffer buffer;
  ::new (buffer.storage()) lent{std::move(of), slot};
  buffer.adopt(&lent_operations, size);
  return buffer;
}

const std::uint32_t* slot_of(sample_buffer& buffer, const slot_writer* writer) noexcept {
  if (buffer.kind() != &lent_operations || stored(buffer).of.get() != writer) return nullptr;
  return &stored(buffer).slot;
}

}  // namespace orc::detail::shm
