// The value of one field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orc/types/number_array.h"

namespace orc::types {

// What find() returns. Texts, bytes and numbers are views of the sample or of this object: both must live, and the
// object not be used for another find(), while they are read. Reuse one object to save allocations.
class value {
 public:
  // std::monostate: the sample does not have the field (null in JSON).
  using variant = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, float, double, std::string_view,
                               std::span<const std::byte>, number_array>;

  value() = default;
  value(const value&) = delete;
  value& operator=(const value&) = delete;

  [[nodiscard]] const variant& get() const noexcept { return value_; }
  [[nodiscard]] bool missing() const noexcept { return std::holds_alternative<std::monostate>(value_); }
  // Returns a single number of any kind, or a bool, as a double; nothing when this is none.
  [[nodiscard]] std::optional<double> number() const noexcept;

  // For decoders: stores a value; keep() copies bytes that would not live long enough, and returns the copy.
  void set(const variant& stored) noexcept { value_ = stored; }
  std::span<const std::byte> keep(std::span<const std::byte> bytes);
  std::span<const std::size_t> keep_shape(std::span<const std::size_t> shape);

 private:
  static constexpr std::size_t short_shape = 8;
  variant value_ = {};
  std::string kept_ = {};
  std::size_t shape_[short_shape] = {};
  std::vector<std::size_t> long_shape_ = {};
};

}  // namespace orc::types
