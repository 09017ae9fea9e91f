// Many numbers of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "orc/schema.h"

namespace orc::types {

// Numbers as they lie in a sample: packed, of any alignment, and of either byte order. A view: it owns nothing.
class number_array {
 public:
  number_array() = default;
  // `kind` is one of boolean to float64. `bytes` holds the numbers, and `shape` their dimensions, outermost first: the
  // product of the dimensions times the size of a number is the size of `bytes`. `swapped`: the byte order is not this
  // machine's.
  number_array(field_kind kind, std::span<const std::byte> bytes, std::span<const std::size_t> shape, bool swapped);

  [[nodiscard]] field_kind kind() const noexcept { return kind_; }
  // Number of numbers.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Dimensions, outermost first. Never empty, except in a default-made array.
  [[nodiscard]] std::span<const std::size_t> shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool swapped() const noexcept { return swapped_; }

  // Returns number `index` of size() as a T. A conversion that does not fit follows the rules of static_cast.
  template <class T>
  [[nodiscard]] T at(std::size_t index) const noexcept;

  // Copies all numbers as T, converted like at().
  template <class T>
  void copy_to(std::vector<T>& to) const {
    to.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) to[i] = at<T>(i);
  }

 private:
  template <class T>
  [[nodiscard]] T load(std::size_t index) const noexcept {
    std::byte copy[sizeof(T)];
    const std::byte* from = bytes_.data() + index * sizeof(T);
    if (swapped_) {
      for (std::size_t i = 0; i < sizeof(T); ++i) copy[i] = from[sizeof(T) - 1 - i];
    } else {
      std::memcpy(copy, from, sizeof(T));
    }
    T loaded;
    std::memcpy(&loaded, copy, sizeof(T));
    return loaded;
  }

  field_kind kind_ = field_kind::uint8;
  bool swapped_ = false;
  std::size_t size_ = 0;
  std::span<const std::byte> bytes_ = {};
  std::span<const std::size_t> shape_ = {};
};

// Returns the bytes of one number of this kind: 1 to 8; 0 when it is no number.
[[nodiscard]] std::size_t size_of(field_kind kind) noexcept;

template <class T>
T number_array::at(std::size_t index) const noexcept {
  switch (kind_) {
    case field_kind::boolean: return static_cast<T>(load<std::uint8_t>(index) != 0);
    case field_kind::int8: return static_cast<T>(load<std::int8_t>(index));
    case field_kind::int16: return static_cast<T>(load<std::int16_t>(index));
    case field_kind::uint16: return static_cast<T>(load<std::uint16_t>(index));
    case field_kind::int32: return static_cast<T>(load<std::int32_t>(index));
    case field_kind::uint32: return static_cast<T>(load<std::uint32_t>(index));
    case field_kind::int64: return static_cast<T>(load<std::int64_t>(index));
    case field_kind::uint64: return static_cast<T>(load<std::uint64_t>(index));
    case field_kind::float32: return static_cast<T>(load<float>(index));
    case field_kind::float64: return static_cast<T>(load<double>(index));
    default: return static_cast<T>(load<std::uint8_t>(index));
  }
}

}  // namespace orc::types
