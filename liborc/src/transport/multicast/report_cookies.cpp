#include "transport/multicast/report_cookies.h"

#include <array>
#include <cstring>

#include "transport/multicast/datagram/big_endian.h"

namespace orc::detail::multicast {

std::uint64_t report_cookies::of_period(const source& at, const wire::id& link, std::uint64_t number) const noexcept {
  std::array<std::byte, 42> bytes;
  std::memcpy(bytes.data(), at.address.bytes.data(), at.address.bytes.size());
  put_big_endian(bytes.data() + 16, at.port);
  put_big_endian(bytes.data() + 18, link.hi);
  put_big_endian(bytes.data() + 26, link.lo);
  put_big_endian(bytes.data() + 34, number);
  return siphash(key_, bytes);
}

}  // namespace orc::detail::multicast
