#include "wire/name_space.h"

#include <algorithm>

namespace orc::wire {

namespace {

[[nodiscard]] orc::error bad(std::string_view text, const std::string& why) {
  return {errc::bad_argument, "the namespace '" + std::string(text.substr(0, max_topic_name)) + "' " + why};
}

}  // namespace

detail::expected<name_space> name_space::parse(std::string_view text) {
  const std::string_view parts = without_slash(text);
  name_space made;
  if (parts.empty()) return made;
  // A name needs at least one byte, after the slash.
  constexpr std::size_t most = max_topic_name - 2;
  if (parts.size() > most)
    return orc::error(errc::bad_argument, "the namespace has " + std::to_string(parts.size()) +
                                              " bytes, the limit is " + std::to_string(most));
  if (const auto checked = check_topic_name(parts); !checked)
    return orc::error(errc::bad_argument, "the namespace: " + checked.error().message());
  made.prefix_.assign(parts).push_back('/');
  if (made.prefix_.starts_with('/') || made.prefix_.find("//") != std::string::npos)
    return bad(text, "has an empty part: parts have one slash between them, and none at the end");
  if (made.prefix_.starts_with('.') || made.prefix_.find("/.") != std::string::npos)
    return bad(text, "has a part that begins with a dot: such names are ORC's own");
  return made;
}

std::string_view name_space::prefixed(std::string_view name, room& to) const noexcept {
  if (name.size() > to.size() - prefix_.size()) return {};
  const auto at = std::copy(prefix_.begin(), prefix_.end(), to.begin());
  return {to.begin(), std::copy(name.begin(), name.end(), at)};
}

std::string name_space::resolve(std::string_view name) const {
  if (name.starts_with('/') || name.empty()) return std::string(without_slash(name));
  return prefix_ + std::string(name);
}

result name_space::check(std::string_view full) const {
  if (full.starts_with('/')) return {errc::bad_name, "the topic name begins with more than one slash"};
  result checked = check_topic_name(full);
  if (checked || prefix_.empty() || !full.starts_with(prefix_)) return checked;
  return {errc::bad_name, checked.error().message() + " (in the namespace " + std::string(text()) + ")"};
}

}  // namespace orc::wire
