#include "base/network/port_range.h"

#include <charconv>

namespace orc::detail {

namespace {

// Returns 0 when it is no port.
[[nodiscard]] std::uint16_t port_or_zero(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  return problem == std::errc() && end == text.data() + text.size() ? port : std::uint16_t{0};
}

}  // namespace

expected<port_range> port_range::parse(std::string_view text) {
  if (text.empty()) return port_range{};
  const auto dash = text.find('-');
  port_range found;
  found.first = port_or_zero(text.substr(0, dash));
  found.last = dash == std::string_view::npos ? found.first : port_or_zero(text.substr(dash + 1));
  if (found.first == 0 || found.last == 0)
    return error(errc::bad_argument,
                 "'" + std::string(text) + "' is no range of ports: write FIRST-LAST or one port, from 1 to 65535");
  if (found.first > found.last)
    return error(errc::bad_argument, "the range " + std::string(text) + " is empty: write the lower port first, " +
                                         std::to_string(found.last) + "-" + std::to_string(found.first));
  return found;
}

std::string port_range::text() const {
  if (any()) return "any";
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

std::string port_range::all_taken(std::string_view listing) const {
  const std::string who = size() == 1
                              ? "port " + text() + " (ORC_PORTS) is taken"
                              : "all " + std::to_string(size()) + " ports of " + text() + " (ORC_PORTS) are taken";
  return who + ": each topic needs one. Name more ports, or see who has them with `" + std::string(listing) + "`";
}

}  // namespace orc::detail
