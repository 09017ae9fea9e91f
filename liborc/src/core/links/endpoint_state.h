// An endpoint of a publication, and what became of the attempts to link to it.
#pragma once

#include <string>

#include "base/clock.h"
#include "transport/transport.h"

namespace orc::detail {

struct endpoint_state {
  enum class standing : std::uint8_t {
    not_asked_for,  // the subscription does not name its transport
    not_offered,    // the publication does not offer it
    untried,
    asked,   // no answer yet
    failed,  // at the last attempt
    answered
  };
  // Silence has a meaning only after this long.
  static constexpr auto soon = std::chrono::milliseconds(500);

  wire::endpoint where;  // without an address where it is not offered
  const transport_kind* kind = nullptr;
  standing stands = standing::untried;
  monotonic::time_point since = {};  // asked: silent since then
  link_end end = {};                 // of the last failed attempt,
  std::string obstacle = {};         // or why it could not begin

  void ask(monotonic::time_point now) noexcept;
  void fail(link_end how) noexcept;
  void fail(const std::string& why);

  // The state for the subscription's own user: "tcp 10.77.0.2:41901: no answer for 2.1 s: firewall, or the host is
  // down?". `reached`: a connection is up.
  [[nodiscard]] std::string text(monotonic::time_point now, bool reached) const;
  // The state for other users. It hides what is open, closed or present, so it does not change with an attempt.
  [[nodiscard]] std::string public_text() const;
};

// "tcp 10.77.0.2:41901", "multicast 239.255.76.67:7667": without details, printable, shortened.
[[nodiscard]] std::string address_text(const wire::endpoint& where);
// "the other end closed the connection"
[[nodiscard]] std::string end_text(const link_end& end);

}  // namespace orc::detail
