// Ports on which a program may listen (orc::participant_options::ports).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"

namespace orc::detail {

struct port_range {
  std::uint16_t first = 0;  // 0: any free port
  std::uint16_t last = 0;

  // Parses "40000-40100" or "40000". Empty: any free port. The error says what is wrong.
  [[nodiscard]] static expected<port_range> parse(std::string_view text);

  [[nodiscard]] bool any() const noexcept { return first == 0; }
  [[nodiscard]] unsigned size() const noexcept { return any() ? 0U : last - first + 1U; }
  [[nodiscard]] bool contains(std::uint16_t port) const noexcept { return any() || (first <= port && port <= last); }
  // The text for parse(); "any" for any port.
  [[nodiscard]] std::string text() const;
  // Why no port was available, for people. `listing`: the command that shows which programs have them.
  [[nodiscard]] std::string all_taken(std::string_view listing) const;

  bool operator==(const port_range&) const noexcept = default;
};

// Calls `open` with one port after the other until it returns true. It starts at a random one, so that programs that
// start together try different ports. Where any port will do, it calls `open` with 0 only. False: `open` never
// succeeded.
template <typename Open>
[[nodiscard]] bool try_ports(const port_range& among, std::uint64_t random, Open&& open) {
  if (among.any()) return open(std::uint16_t{0});
  for (unsigned n = 0; n < among.size(); ++n) {
    if (open(static_cast<std::uint16_t>(among.first + (random % among.size() + n) % among.size()))) return true;
  }
  return false;
}

}  // namespace orc::detail
