// Cookies prove that a subscription receives at the address from which it reports, as SYN cookies do for TCP (RFC 4987)
// and HelloVerifyRequest for DTLS (RFC 6347, section 4.2.1). A publication keeps nothing for an address before the
// proof.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "transport/multicast/datagram/source.h"
#include "transport/multicast/siphash.h"
#include "wire/control.h"

namespace orc::detail::multicast {

// Pure: the secret and the clock come as arguments.
class report_cookies {
 public:
  // A cookie is good in its period and in those beside it. Readers get the current one with each status, at least once
  // a second. Only a large status has that of the next period: who returns it got a large datagram.
  static constexpr std::chrono::seconds period{60};

  explicit report_cookies(const wire::id& secret) noexcept : key_{secret.hi, secret.lo} {}

  [[nodiscard]] std::uint64_t make(const source& at, const wire::id& link, monotonic::time_point now) const noexcept {
    return of_period(at, link, number_of(now));
  }
  [[nodiscard]] bool is_good(std::uint64_t cookie, const source& at, const wire::id& link,
                             monotonic::time_point now) const noexcept {
    const std::uint64_t current = number_of(now);
    return cookie == of_period(at, link, current) || cookie == of_period(at, link, current - 1) ||
           cookie == of_period(at, link, current + 1);
  }

 private:
  [[nodiscard]] static std::uint64_t number_of(monotonic::time_point now) noexcept {
    return static_cast<std::uint64_t>(now.time_since_epoch() / period);
  }
  [[nodiscard]] std::uint64_t of_period(const source& at, const wire::id& link, std::uint64_t number) const noexcept;

  const siphash_key key_;
};

}  // namespace orc::detail::multicast
