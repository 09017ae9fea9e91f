// The sentences about two types that differ. Text from schemas is escaped here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace orc::detail {

// What one comparison found: nothing, or the first difference in words. Error: bad_argument, it cannot be compared.
using difference = expected<std::optional<std::string>>;

class sentences {
 public:
  explicit sentences(std::string_view publisher);

  // "at publisher `arm (4711)`"
  [[nodiscard]] const std::string& there() const noexcept { return there_; }
  // "field `q` is float32[7] at publisher `arm (4711)`, float64[7] here". Nothing is escaped.
  [[nodiscard]] std::string differs(const std::string& what, const std::string& published,
                                    const std::string& expected) const;
  // "field `tau` is float64[7] at publisher `arm (4711)`, missing here"
  [[nodiscard]] std::string only_there(const std::string& what, const std::string& published) const;
  // "field `tau` is missing at publisher `arm (4711)`, float64[7] here"
  [[nodiscard]] std::string only_here(const std::string& what, const std::string& expected) const;

  // "field `pose.x`". `path` was made by joined().
  [[nodiscard]] static std::string field(const std::string& path);
  // Appends an escaped name to a path. A path longer than 1 KiB ends in "…" instead.
  [[nodiscard]] static std::string joined(const std::string& path, std::string_view name);
  // The name in a sentence: escaped, or "an unnamed type".
  [[nodiscard]] static std::string type_name(std::string_view name);
  // "0x0123456789abcdef"
  [[nodiscard]] static std::string hex(std::uint64_t value);

 private:
  std::string there_;
};

}  // namespace orc::detail
