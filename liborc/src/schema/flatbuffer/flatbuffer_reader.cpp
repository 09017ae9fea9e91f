#include "schema/flatbuffer/flatbuffer_reader.h"

#include <bit>

namespace orc::detail {

void flatbuffer_bytes::fail(std::size_t at) noexcept {
  if (!failed_) failed_at_ = at;
  failed_ = true;
}

std::uint64_t flatbuffer_bytes::integer(std::size_t at, std::size_t size) noexcept {
  if (at > bytes_.size() || size > bytes_.size() - at) {
    fail(at);
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
  }
  return value;
}

std::string_view flatbuffer_bytes::text(std::size_t at) noexcept {
  const auto size = static_cast<std::size_t>(integer(at, 4));
  if (failed_ || size > bytes_.size() - at - 4) {
    fail(at);
    return {};
  }
  return bytes_.substr(at + 4, size);
}

std::size_t flatbuffer_bytes::target(std::size_t at) noexcept { return at + static_cast<std::size_t>(integer(at, 4)); }

flatbuffer_vector::flatbuffer_vector(flatbuffer_bytes& bytes, std::size_t at) noexcept
    : bytes_(&bytes), first_(at + 4), size_(static_cast<std::size_t>(bytes.integer(at, 4))) {
  if (size_ != 0) (void)bytes.integer(first_ + 4 * (size_ - 1), 4);  // the last one is inside
  if (bytes.failed()) size_ = 0;
}

flatbuffer_table flatbuffer_vector::table(std::size_t index) const noexcept {
  return {*bytes_, bytes_->target(first_ + 4 * index)};
}

std::string_view flatbuffer_vector::text(std::size_t index) const noexcept {
  return bytes_->text(bytes_->target(first_ + 4 * index));
}

std::size_t flatbuffer_table::field(std::size_t id) const noexcept {
  if (bytes_ == nullptr || bytes_->failed()) return 0;
  const auto back = static_cast<std::int32_t>(static_cast<std::uint32_t>(bytes_->integer(at_, 4)));
  const auto start = static_cast<std::int64_t>(at_) - back;
  if (start < 0) {
    bytes_->fail(at_);
    return 0;
  }
  const auto vtable = static_cast<std::size_t>(start);
  const auto size = static_cast<std::size_t>(bytes_->integer(vtable, 2));
  if (6 + 2 * id > size) return 0;
  const auto offset = static_cast<std::size_t>(bytes_->integer(vtable + 4 + 2 * id, 2));
  return offset == 0 ? 0 : at_ + offset;
}

double flatbuffer_table::real(std::size_t id) const noexcept {
  return std::bit_cast<double>(number<std::uint64_t>(id));
}

std::string_view flatbuffer_table::text(std::size_t id) const noexcept {
  const auto place = field(id);
  return place == 0 ? std::string_view() : bytes_->text(bytes_->target(place));
}

flatbuffer_table flatbuffer_table::table(std::size_t id) const noexcept {
  const auto place = field(id);
  return place == 0 ? flatbuffer_table() : flatbuffer_table(*bytes_, bytes_->target(place));
}

flatbuffer_vector flatbuffer_table::vector(std::size_t id) const noexcept {
  const auto place = field(id);
  return place == 0 ? flatbuffer_vector() : flatbuffer_vector(*bytes_, bytes_->target(place));
}

}  // namespace orc::detail
