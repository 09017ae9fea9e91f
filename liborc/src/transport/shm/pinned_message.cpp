#include "transport/shm/pinned_message.h"

#include <new>
#include <utility>

namespace orc::detail::shm {

namespace {

struct pinned {
  std::shared_ptr<attachment> by;
  std::shared_ptr<const segment> in;
  std::uint32_t slot;
  std::uint32_t pin;
};
static_assert(sizeof(pinned) <= 64 && alignof(pinned) <= 8, "sample_buffer has room for it");

pinned& stored(sample_buffer& buffer) noexcept { return *std::launder(static_cast<pinned*>(buffer.storage())); }

void move_pinned(sample_buffer& to, sample_buffer& from) noexcept {
  ::new (to.storage()) pinned(std::move(stored(from)));
  stored(from).~pinned();
}

void drop_pinned(sample_buffer& buffer) noexcept {
  pinned& p = stored(buffer);
  if (!p.by->inherited()) {
    unpin(p.by->page().pins[p.pin]);
    p.by->release(p.pin);
  }
  p.~pinned();
}

std::byte* payload_of_pinned(sample_buffer& buffer) noexcept { return stored(buffer).in->payload(stored(buffer).slot); }

constexpr sample_buffer::operations pinned_operations{move_pinned, drop_pinned, payload_of_pinned};

}  // namespace

sample_buffer pinned_buffer(std::shared_ptr<attachment> by, std::shared_ptr<const segment> in,
                            const pinned_sample& what, std::uint32_t pin) noexcept {
  sample_buffer buffer;
  ::new (buffer.storage()) pinned{std::move(by), std::move(in), what.slot, pin};
  buffer.adopt(&pinned_operations, what.size);
  return buffer;
}

}  // namespace orc::detail::shm
