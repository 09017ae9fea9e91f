#include "transport/multicast/report_cookies.h"

#include <array>

#include "transport/multicast/big_endian.h"

namespace orc::detail::multicast {

std::uint64_t report_cookies::of_period(const source& at, const wire::id& link, std::uint64_t number) const noexcept {
  std::array<std::byte, 30> bytes;
  put_big_endian(bytes.data(), at.address);
  put_big_endian(bytes.data() + 4, at.port);
  put_big_endian(bytes.data() + 6, link.hi);
  put_big_endian(bytes.data() + 14, link.lo);
  put_big_endian(bytes.data() + 22, number);
  return siphash(key_, bytes);
}

}  // namespace orc::detail::multicast
