// The namespace of a participant: what stands before the names that its program uses. The one place that makes full
// names of them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "orc/result.h"
#include "wire/control.h"

namespace orc::wire {

// "/estop" -> "estop": the full name, or the pattern of full names, of one that may be absolute.
[[nodiscard]] constexpr std::string_view without_slash(std::string_view name) noexcept {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

// participant_options::name_space of a program that has full names, whatever ORC_NAMESPACE says.
inline constexpr const char* no_name_space = "/";

class name_space {
 public:
  // Memory for a full name, whose contents do not matter.
  using room = std::array<char, max_topic_name>;

  // None: names stay as they are.
  name_space() = default;
  // "robot7", "lab/robot7"; with a slash before it, the same. Empty or "/": none. The error is errc::bad_argument.
  [[nodiscard]] static detail::expected<name_space> parse(std::string_view text);

  // Without the slash at its end; empty: none.
  [[nodiscard]] std::string_view text() const noexcept { return without_end(prefix_); }

  // Returns the full name: "pose" -> "robot7/pose", "/estop" -> "estop". Does not check the name; an empty one stays
  // empty. The result is a part of `name`, or is in `to`. Empty: it is longer than a name can be. Allocates nothing.
  [[nodiscard]] std::string_view resolve(std::string_view name, room& to) const noexcept {
    if (name.starts_with('/')) return name.substr(1);
    return prefix_.empty() || name.empty() ? name : prefixed(name, to);
  }
  // The same of any length. Also for a pattern of names.
  [[nodiscard]] std::string resolve(std::string_view name) const;

  // Checks a full name. The error is errc::bad_name.
  [[nodiscard]] result check(std::string_view full) const;

 private:
  [[nodiscard]] static std::string_view without_end(std::string_view prefix) noexcept {
    return prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
  }
  [[nodiscard]] std::string_view prefixed(std::string_view name, room& to) const noexcept;

  std::string prefix_;  // with a slash at its end
};

}  // namespace orc::wire
