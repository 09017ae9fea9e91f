// Writes ROS 2's CDR: little-endian, each number at a multiple of its size from the end of the header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/types/number_array.h"

namespace orc::web {

// Once a value would exceed the limit, this value and all others are dropped, and full() is true.
class cdr_output {
 public:
  // Replaces what `to` has. `limit`: the most bytes of all, below 4 GiB: so each count of elements or bytes fits.
  cdr_output(std::vector<std::byte>& to, std::size_t limit) : to_(to), limit_(limit) {
    to_.clear();
    if (std::byte* header = grow(header_bytes)) header[1] = std::byte{1};  // plain CDR, little-endian
  }

  [[nodiscard]] bool full() const noexcept { return full_; }

  template <class T>
  void number(T value) {
    if (std::byte* at = aligned(sizeof(T), sizeof(T))) store(value, at);
  }

  // Writes the count of a sequence, for set_count(). Returns its place.
  [[nodiscard]] std::size_t begin_count() {
    number(std::uint32_t{0});
    return to_.size() - sizeof(std::uint32_t);
  }
  void set_count(std::size_t place, std::uint32_t count) {
    if (!full_) store(count, to_.data() + place);
  }

  // Writes the numbers, without a count.
  void numbers(const types::number_array& all);

  // Writes a string. Bytes that are not UTF-8 become U+FFFD.
  void text(std::string_view value);

 private:
  static constexpr std::size_t header_bytes = 4;

  template <class T>
  static void store(T value, std::byte* to) noexcept {
    std::memcpy(to, &value, sizeof value);
    if constexpr (std::endian::native == std::endian::big) reverse(to, sizeof value);
  }
  static void reverse(std::byte* bytes, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size / 2; ++i) std::swap(bytes[i], bytes[size - 1 - i]);
  }

  // Appends so many bytes, behind zeros that align them. Null: it is full.
  std::byte* aligned(std::size_t alignment, std::size_t bytes) {
    const std::size_t behind = (to_.size() - header_bytes) % alignment;
    const std::size_t padding = behind == 0 ? 0 : alignment - behind;
    std::byte* at = grow(padding + bytes);
    return at == nullptr ? nullptr : at + padding;
  }
  std::byte* grow(std::size_t bytes) {
    const std::size_t size = to_.size();
    full_ = full_ || size > limit_ || bytes > limit_ - size;
    if (full_) return nullptr;
    to_.resize(size + bytes);
    return to_.data() + size;
  }

  std::vector<std::byte>& to_;
  std::size_t limit_;
  bool full_ = false;
};

}  // namespace orc::web
