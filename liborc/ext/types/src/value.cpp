#include "orc/types/value.h"

#include <algorithm>

namespace orc::types {

std::optional<double> value::number() const noexcept {
  if (const auto* found = std::get_if<bool>(&value_)) return *found ? 1.0 : 0.0;
  if (const auto* found = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*found);
  if (const auto* found = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*found);
  if (const auto* found = std::get_if<float>(&value_)) return static_cast<double>(*found);
  if (const auto* found = std::get_if<double>(&value_)) return *found;
  return std::nullopt;
}

std::span<const std::byte> value::keep(std::span<const std::byte> bytes) {
  kept_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::as_bytes(std::span(kept_.data(), kept_.size()));
}

std::span<const std::size_t> value::keep_shape(std::span<const std::size_t> shape) {
  if (shape.size() > short_shape) {
    long_shape_.assign(shape.begin(), shape.end());
    return long_shape_;
  }
  std::copy(shape.begin(), shape.end(), shape_);
  return {shape_, shape.size()};
}

}  // namespace orc::types
