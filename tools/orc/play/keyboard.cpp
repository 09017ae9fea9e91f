#include "tools/orc/play/keyboard.h"

#include <array>
#include <utility>

#include "tools/terminal/key_reader.h"

namespace orc::cli {

namespace {

// Longest first. Cursor keys have two forms, with [ and with O.
constexpr std::array<std::pair<std::string_view, key>, 24> keys{{
    {"\x1b[1;2C", key::far_forward},
    {"\x1b[1;2D", key::far_back},
    {"\x1b[1;5C", key::far_forward},
    {"\x1b[1;5D", key::far_back},
    {"\x1b[5~", key::far_back},
    {"\x1b[6~", key::far_forward},
    {"\x1b[C", key::forward},
    {"\x1b[D", key::back},
    {"\x1bOC", key::forward},
    {"\x1bOD", key::back},
    {"\x1b[c", key::far_forward},
    {"\x1b[d", key::far_back},
    {" ", key::pause},
    {".", key::step},
    {"s", key::step},
    {"S", key::step},
    {"+", key::faster},
    {"=", key::faster},
    {"-", key::slower},
    {"_", key::slower},
    {"q", key::quit},
    {"Q", key::quit},
    {"?", key::help},
    {"h", key::help},
}};

}  // namespace

std::optional<key> take_key(std::string& sent) {
  while (!sent.empty()) {
    const std::size_t length = sent[0] == '\x1b' ? terminal::sequence_length(sent) : 1;
    if (length == 0) return std::nullopt;
    const std::string pressed = sent.substr(0, length);
    sent.erase(0, length);
    for (const auto& [bytes, meaning] : keys)
      if (pressed == bytes) return meaning;
  }
  return std::nullopt;
}

std::optional<key> keyboard::next() {
  if (const auto known = take_key(sent_)) return known;
  sent_ += terminal_.keys();
  return take_key(sent_);
}

}  // namespace orc::cli
