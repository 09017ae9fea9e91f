#include "trail.h"

#include <algorithm>

namespace orc::types::detail {

std::string shown(std::string_view text) {
  constexpr std::size_t most = 255;
  std::string made(text.substr(0, most));
  for (char& each : made) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20 || byte >= 0x7f) each = '?';
  }
  if (text.size() > most) made += "...";
  return made;
}

std::string trail::text() const {
  if (size_ == 0) return "the sample";
  std::string made = "`";
  for (std::size_t i = 0; i < std::min(size_, places_.size()); ++i) {
    const place& each = places_[i];
    if (each.is_element) {
      made += "[" + std::to_string(each.element) + "]";
    } else {
      if (made.size() > 1) made += ".";
      made += shown(each.field);
    }
  }
  return made + "`";
}

void name_list::add(std::string_view name) {
  if (++count_ > most) return;
  if (count_ > 1) text_ += ", ";
  text_ += "`" + shown(name) + "`";
}

std::string name_list::text() const {
  if (count_ == 0) return "none";
  if (count_ <= most) return text_;
  return text_ + " and " + std::to_string(count_ - most) + " more";
}

}  // namespace orc::types::detail
