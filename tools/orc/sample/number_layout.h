// Samples as rows of numbers, for --as: "f8x7" is seven doubles, "u4,f4x3" an unsigned integer of 4 bytes and three
// floats. The letters are those of numpy: i (integer), u (unsigned), f (floating point), then the bytes of one number.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace orc::cli {

// Numbers lie one behind the other, without padding, in the byte order of this machine.
class number_layout {
 public:
  enum class kind { i1, u1, i2, u2, i4, u4, i8, u8, f4, f8 };

  // The error quotes the group that is wrong.
  [[nodiscard]] static detail::expected<number_layout> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // of a sample

  // The numbers of a sample as decimal text, exact enough to be read back. Nothing: a sample of another size.
  [[nodiscard]] std::optional<std::vector<std::string>> numbers(std::string_view sample) const;

  // The sample of as many numbers, separated by blanks or commas. The error says which number does not fit.
  [[nodiscard]] detail::expected<std::string> sample(std::string_view numbers) const;

 private:
  std::string text_;
  std::vector<kind> kinds_;
  std::size_t bytes_ = 0;
};

}  // namespace orc::cli
