// Splits the text of LCM type definitions into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orc::detail {

struct lcm_token {
  enum class type : std::uint8_t {
    word,     // a name, a type with its package, a number
    symbol,   // one of { } [ ] ; , =
    comment,  // `text` is what it says, without the marks
    unknown,  // one byte that has no place in the language
    open,     // a comment that does not end
    end
  };
  type kind = type::end;
  std::string text;
  std::size_t line = 1;       // on which it begins
  std::size_t last_line = 1;  // on which it ends

  [[nodiscard]] bool is(char symbol) const noexcept {
    return kind == type::symbol && text.size() == 1 && text.front() == symbol;
  }
  [[nodiscard]] bool is_word(std::string_view word) const noexcept { return kind == type::word && text == word; }
};

class lcm_tokens {
 public:
  // `text` must outlive it.
  explicit lcm_tokens(std::string_view text) noexcept : text_(text) {}
  [[nodiscard]] lcm_token next();

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_space() noexcept;
  [[nodiscard]] lcm_token line_comment();
  [[nodiscard]] lcm_token block_comment();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace orc::detail
