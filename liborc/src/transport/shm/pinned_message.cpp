#include "transport/shm/pinned_message.h"

#include <new>
#include <utility>

namespace orc::detail::shm {

namespace {

struct pinned {
  std::shared_ptr<const view> through;  // its pointer and count are elsewhere, so it can be moved byte by byte
  std::atomic<std::uint32_t>* pin;
};
static_assert(sizeof(pinned) <= 64 && alignof(pinned) <= 8, "sample_buffer has room for it");

pinned& stored_pin(sample_buffer& buffer) noexcept { return *std::launder(static_cast<pinned*>(buffer.storage())); }

void drop_pinned(sample_buffer& buffer) noexcept {
  pinned& p = stored_pin(buffer);
  if (!p.through->by->inherited()) unpin(*p.pin);
  p.~pinned();
}

constexpr sample_buffer::operations pinned_operations{.move = nullptr, .drop = drop_pinned, .payload = nullptr};

}  // namespace

sample_buffer pinned_buffer(std::shared_ptr<const view> through, const pinned_sample& what,
                            std::atomic<std::uint32_t>& pin) noexcept {
  sample_buffer buffer;
  std::byte* const payload = through->in->payload(what.slot);
  ::new (buffer.storage()) pinned{std::move(through), &pin};
  buffer.adopt(&pinned_operations, payload, what.size);
  return buffer;
}

}  // namespace orc::detail::shm
