#include "orc/message.h"

#include <algorithm>

#include "base/clock.h"
#include "base/copy.h"
#include "core/trace/interceptor.h"

namespace orc {

namespace detail {

void sample_buffer::reset() noexcept {
  if (operations_ == nullptr) return;
  operations_->drop(*this);
  operations_ = nullptr;
  payload_ = nullptr;
  size_ = 0;
}

void sample_buffer::take(sample_buffer& other) noexcept {
  if (other.operations_ == nullptr) return;
  if (other.operations_->move == nullptr) {
    std::memcpy(storage_, other.storage_, sizeof storage_);
    adopt(other.operations_, other.payload_, other.size_);
  } else {
    other.operations_->move(*this, other);
    adopt(other.operations_, other.size_);
  }
  other.operations_ = nullptr;
  other.payload_ = nullptr;
  other.size_ = 0;
}

}  // namespace detail

std::size_t message::copy_to(void* to, std::size_t capacity) const noexcept {
  const std::size_t count = std::min(capacity, size());
  detail::copy_bytes(static_cast<std::byte*>(to), buffer_.payload(), count);
  return count;
}

std::int64_t message::age_ns() const noexcept {
  detail::interceptor* const instead = detail::interceptor::current();
  return instead == nullptr ? detail::age_of(stamp_ns_) : instead->age_ns(stamp_ns_);
}

}  // namespace orc
