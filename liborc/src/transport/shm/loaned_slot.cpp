#include "transport/shm/loaned_slot.h"

#include <new>
#include <utility>

namespace orc::detail::shm {

namespace {

struct lent {
  std::shared_ptr<slot_writer> of;  // its pointer and count are elsewhere, so it can be moved byte by byte
  std::uint32_t slot;
};
static_assert(sizeof(lent) <= 64 && alignof(lent) <= 8, "sample_buffer has room for it");

lent& stored_loan(sample_buffer& buffer) noexcept { return *std::launder(static_cast<lent*>(buffer.storage())); }

void drop_loaned(sample_buffer& buffer) noexcept {
  lent& l = stored_loan(buffer);
  l.of->let_go(l.slot);
  l.~lent();
}

void share_loaned(sample_buffer& to, sample_buffer& from) noexcept {
  const lent& l = stored_loan(from);
  l.of->hold(l.slot);
  ::new (to.storage()) lent(l);
}

constexpr sample_buffer::operations loaned_operations{
    .move = nullptr, .drop = drop_loaned, .payload = nullptr, .share = share_loaned};

}  // namespace

sample_buffer loaned_buffer(std::shared_ptr<slot_writer> of, std::uint32_t slot, std::size_t size) noexcept {
  sample_buffer buffer;
  std::byte* const payload = of->payload(slot);
  ::new (buffer.storage()) lent{std::move(of), slot};
  buffer.adopt(&loaned_operations, payload, size);
  return buffer;
}

const std::uint32_t* slot_of(sample_buffer& buffer, const slot_writer* writer) noexcept {
  if (buffer.kind() != &loaned_operations || stored_loan(buffer).of.get() != writer) return nullptr;
  return &stored_loan(buffer).slot;
}

}  // namespace orc::detail::shm
