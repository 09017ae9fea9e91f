#include "tools/terminal/key_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/printable.h"

namespace orc::terminal {

namespace {

using kind = key_press::kind;

constexpr char escape = '\x1b';
constexpr std::size_t longest_sequence = 16;

// Cursor keys have two forms, with [ and with O; Home and End have four.
constexpr std::array<std::pair<std::string_view, kind>, 22> sequences{{
    {"[A", kind::up},       {"OA", kind::up},      {"[B", kind::down},       {"OB", kind::down},
    {"[C", kind::right},    {"OC", kind::right},   {"[D", kind::left},       {"OD", kind::left},
    {"[H", kind::home},     {"OH", kind::home},    {"[1~", kind::home},      {"[7~", kind::home},
    {"[F", kind::end},      {"OF", kind::end},     {"[4~", kind::end},       {"[8~", kind::end},
    {"[5~", kind::page_up}, {"[3~", kind::remove}, {"[6~", kind::page_down}, {"[Z", kind::back_tab},
    {"[1;2A", kind::up},    {"[1;2B", kind::down},
}};

[[nodiscard]] std::optional<key_press> key_of_sequence(std::string_view sequence) {
  if (sequence.size() == 1) return key_press{.what = kind::escape};
  const auto* const found = std::find_if(sequences.begin(), sequences.end(),
                                         [&](const auto& each) { return each.first == sequence.substr(1); });
  if (found == sequences.end()) return std::nullopt;
  return key_press{.what = found->second};
}

[[nodiscard]] std::optional<key_press> key_of_control(char byte) {
  if (byte == '\r' || byte == '\n') return key_press{.what = kind::enter};
  if (byte == '\t') return key_press{.what = kind::tab};
  if (byte == '\x7f' || byte == '\b') return key_press{.what = kind::backspace};
  if (byte >= 1 && byte <= 26)
    return key_press{.what = kind::control, .text = std::string(1, static_cast<char>(byte + 'a' - 1))};
  return std::nullopt;
}

// Bytes of the character that begins with this one.
[[nodiscard]] std::size_t announced_length(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0xF0 ? 4u : byte >= 0xE0 ? 3u : byte >= 0xC2 ? 2u : 1u;
}

}  // namespace

std::size_t sequence_length(std::string_view sent) noexcept {
  if (sent.size() < 2) return 0;
  if (sent[1] == 'O') return sent.size() < 3 ? 0 : 3;
  if (sent[1] != '[') return 1;
  for (std::size_t i = 2; i < sent.size() && i < longest_sequence; ++i)
    if (sent[i] >= 0x40 && sent[i] <= 0x7e) return i + 1;
  return sent.size() < longest_sequence ? 0 : longest_sequence;
}

std::optional<key_press> key_reader::next() {
  while (!sent_.empty()) {
    const char first = sent_.front();
    std::optional<key_press> found;
    std::size_t length = 1;
    if (first == escape) {
      length = sequence_length(sent_);
      if (length == 0) return std::nullopt;
      found = key_of_sequence(std::string_view(sent_).substr(0, length));
    } else if (static_cast<unsigned char>(first) < 0x20 || first == '\x7f') {
      found = key_of_control(first);
    } else {
      length = detail::utf8_length(sent_);
      if (length == 0 && sent_.size() < announced_length(first)) return std::nullopt;
      if (length != 0) found = key_press{.text = sent_.substr(0, length)};
      length = std::max<std::size_t>(length, 1);
    }
    sent_.erase(0, length);
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<key_press> key_reader::settle() {
  const bool is_escape = sent_ == std::string_view(&escape, 1);
  sent_.clear();
  if (!is_escape) return std::nullopt;
  return key_press{.what = kind::escape};
}

}  // namespace orc::terminal
