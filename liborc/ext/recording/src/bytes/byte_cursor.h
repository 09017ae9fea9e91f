// Takes numbers and texts from bytes of anybody. After the first one that is not there, all further ones are empty, and
// failed() says so: one check per record.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace orc::recording::detail {

class byte_cursor {
 public:
  explicit byte_cursor(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }

  std::span<const std::byte> take(std::uint64_t n) noexcept {
    if (failed_ || n > left()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(n));
    at_ += taken.size();
    return taken;
  }
  template <std::unsigned_integral T>
  T number() noexcept {
    T value = 0;
    const auto bytes = take(sizeof(T));
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = static_cast<T>((std::uint64_t{value} << 8) | std::to_integer<T>(bytes[i]));
    return value;
  }
  std::string_view text() noexcept {
    const auto bytes = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // The bytes of an array or a map, which begin with their length in 32 bits.
  byte_cursor nested() noexcept { return byte_cursor(take(number<std::uint32_t>())); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace orc::recording::detail
