// One way from a subscription to its publication, and what is known of it now.
#pragma once

#include <string>

#include "core/clock.h"
#include "transport/transport.h"

namespace orc::detail {

struct way {
  enum class standing : std::uint8_t {
    not_asked_for,  // the subscription leaves its transport out
    not_offered,    // the publication does
    untried,
    asked,   // no answer yet
    failed,  // when it was tried last
    answered
  };
  // Silence means something only after this long.
  static constexpr auto soon = std::chrono::milliseconds(500);

  wire::endpoint where;  // without an address where it is not offered
  const transport_kind* kind = nullptr;
  standing stands = standing::untried;
  monotonic::time_point since = {};  // asked: no answer since then
  link_end end = {};                 // of the attempt that failed last, unless
  std::string obstacle = {};         // it could not be begun: why

  void ask(monotonic::time_point now) noexcept;
  void fail(link_end how) noexcept;
  void fail(const std::string& why);

  // For the subscription's own user: "tcp 10.77.0.2:41901: no answer for 2.1 s: firewall, or the host is down?".
  // `reached`: a connection is up.
  [[nodiscard]] std::string text(monotonic::time_point now, bool reached) const;
  // For others, to whom it must not say what is open, closed or there. They see the same before and after an attempt.
  [[nodiscard]] std::string public_text() const;
};

// "tcp 10.77.0.2:41901", "multicast 239.255.76.67:7667": without what a person does not need, printable, not long.
[[nodiscard]] std::string address_text(const wire::endpoint& where);
// "the other end closed the connection"
[[nodiscard]] std::string end_text(const link_end& end);

}  // namespace orc::detail
