#include "transport/multicast/report_cookies.h"

#include <array>

#include "support/catch.h"

using namespace orc::detail;
using namespace orc::detail::multicast;

namespace {

const source here{orc::detail::ip_address::loopback_v4(), 1000};
constexpr orc::wire::id link_id{3, 4};
const monotonic::time_point start{std::chrono::hours(5)};

}  // namespace

TEST_CASE("siphash: the vectors of its authors", "[unit]") {
  const siphash_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::array<std::byte, 64> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(siphash(key, std::span(bytes).first(0)) == 0x726fdb47dd0e0e31);
  CHECK(siphash(key, std::span(bytes).first(1)) == 0x74f839c593dc67fd);
  CHECK(siphash(key, std::span(bytes).first(8)) == 0x93f5f5799a932462);
  CHECK(siphash(key, std::span(bytes).first(15)) == 0xa129ca6149be45e5);
  CHECK(siphash(key, std::span(bytes).first(63)) == 0x958a324ceb064572);
}

TEST_CASE("report cookies: one is good for its address, port and link only", "[unit]") {
  const report_cookies cookies({11, 12});
  const auto cookie = cookies.make(here, link_id, start);
  CHECK(cookies.is_good(cookie, here, link_id, start));
  CHECK(!cookies.is_good(0, here, link_id, start));
  CHECK(!cookies.is_good(cookie ^ 1, here, link_id, start));
  CHECK(!cookies.is_good(cookie, {orc::detail::ip_address::parse("127.0.0.2").value(), here.port}, link_id, start));
  CHECK(!cookies.is_good(cookie, {here.address, 1001}, link_id, start));
  CHECK(!cookies.is_good(cookie, here, {3, 5}, start));
  CHECK(!cookies.is_good(cookie, here, {4, 4}, start));
  CHECK(!report_cookies({11, 13}).is_good(cookie, here, link_id, start));
  CHECK(!report_cookies({10, 12}).is_good(cookie, here, link_id, start));
}

TEST_CASE("report cookies: every byte of an IPv6 address counts", "[unit]") {
  const report_cookies cookies({11, 12});
  const source there{orc::detail::ip_address::parse("2001:db8::1").value(), 1000};
  const auto cookie = cookies.make(there, link_id, start);
  CHECK(cookies.is_good(cookie, there, link_id, start));
  for (std::size_t i = 0; i < there.address.bytes.size(); ++i) {
    source other = there;
    other.address.bytes[i] ^= 1;
    CHECK(!cookies.is_good(cookie, other, link_id, start));
  }
}

TEST_CASE("report cookies: one stays good while it is renewed, and ends", "[unit]") {
  const report_cookies cookies({11, 12});
  const auto cookie = cookies.make(here, link_id, start);
  CHECK(cookies.is_good(cookie, here, link_id, start + report_cookies::period));
  CHECK(!cookies.is_good(cookie, here, link_id, start + 2 * report_cookies::period));
  CHECK(cookies.make(here, link_id, start + report_cookies::period) != cookie);
}
