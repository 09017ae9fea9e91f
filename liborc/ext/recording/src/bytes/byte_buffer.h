// Bytes that grow, without setting new ones to zero first: chunks are megabytes, filled at once. Numbers are
// little-endian, as in MCAP.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>

namespace orc::recording::detail {

class byte_buffer {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::byte* data() noexcept { return bytes_.get(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

  void clear() noexcept { size_ = 0; }
  // New bytes have any value.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  // Place for n more bytes; the caller fills it.
  std::byte* extend(std::size_t n) {
    const std::size_t at = size_;
    resize(size_ + n);
    return bytes_.get() + at;
  }

  void put_bytes(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  template <std::unsigned_integral T>
  void put(T value) {
    store(extend(sizeof(T)), value);
  }
  // A length of 32 bits, then the bytes.
  void put_string(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  // Replaces what extend() or put() left room for.
  template <std::unsigned_integral T>
  void put_at(std::size_t at, T value) noexcept {
    store(bytes_.get() + at, value);
  }

 private:
  struct free_bytes {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }  // NOLINT(cppcoreguidelines-no-malloc)
  };

  template <std::unsigned_integral T>
  static void store(std::byte* to, T value) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(to, &value, sizeof(T));
    } else {
      for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
    }
  }

  void grow(std::size_t size) {
    const std::size_t wanted = std::max({size, capacity_ + capacity_ / 2, std::size_t{256}});
    auto* larger = static_cast<std::byte*>(std::realloc(bytes_.get(), wanted));  // NOLINT(cppcoreguidelines-no-malloc)
    if (larger == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(larger);
    capacity_ = wanted;
  }

  std::unique_ptr<std::byte, free_bytes> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace orc::recording::detail
