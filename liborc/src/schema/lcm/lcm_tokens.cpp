#include "schema/lcm/lcm_tokens.h"

#include <algorithm>
#include <utility>

#include "schema/trimmed.h"

namespace orc::detail {
namespace {

bool is_word_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '+';
}

// Appends a line of a comment between /* and */, without the asterisks that decorate it.
void append_comment_line(std::string& to, std::string_view line) {
  line = trimmed(line);
  while (!line.empty() && line.front() == '*') line.remove_prefix(1);
  line = trimmed(line);
  if (line.empty()) return;
  if (!to.empty()) to += '\n';
  to += line;
}

}  // namespace

void lcm_tokens::skip_space() noexcept {
  while (at_ < text_.size() && white_space.find(text_[at_]) != std::string_view::npos) {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
}

lcm_token lcm_tokens::next() {
  skip_space();
  if (at_ >= text_.size()) return {lcm_token::type::end, "", line_, line_};
  if (peek() == '/' && peek(1) == '/') return line_comment();
  if (peek() == '/' && peek(1) == '*') return block_comment();
  const auto begin = at_;
  while (at_ < text_.size() && is_word_byte(text_[at_])) ++at_;
  if (at_ > begin) return {lcm_token::type::word, std::string(text_.substr(begin, at_ - begin)), line_, line_};
  const char c = text_[at_++];
  const bool known = std::string_view("{}[];,=").find(c) != std::string_view::npos;
  return {known ? lcm_token::type::symbol : lcm_token::type::unknown, std::string(1, c), line_, line_};
}

lcm_token lcm_tokens::line_comment() {
  const auto end = std::min(text_.find('\n', at_), text_.size());
  auto said = text_.substr(at_, end - at_);
  at_ = end;
  while (!said.empty() && said.front() == '/') said.remove_prefix(1);
  return {lcm_token::type::comment, std::string(trimmed(said)), line_, line_};
}

lcm_token lcm_tokens::block_comment() {
  const auto first_line = line_;
  const auto end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) return {lcm_token::type::open, "", line_, line_};
  auto said = text_.substr(at_ + 2, end - at_ - 2);
  at_ = end + 2;
  std::string text;
  while (true) {
    const auto line_end = said.find('\n');
    append_comment_line(text, said.substr(0, line_end));
    if (line_end == std::string_view::npos) break;
    ++line_;
    said.remove_prefix(line_end + 1);
  }
  return {lcm_token::type::comment, std::move(text), first_line, line_};
}

}  // namespace orc::detail
