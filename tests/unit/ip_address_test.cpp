#include "base/network/ip_address.h"

#include <string>

#include "support/catch.h"

using orc::detail::ip_address;
using orc::detail::ip_port;
using orc::detail::socket_address;

TEST_CASE("addresses and ports of both families are read and written") {
  for (const std::string text : {"192.0.2.1:1", "127.0.0.1:65535", "[2001:db8::1]:40000", "[::1]:5570", "0.0.0.0:0",
                                 "[::]:7", "[fe80::1%lo]:9", "[ff15::76:67]:7667"}) {
    const auto read = ip_port::parse(text);
    REQUIRE(read);
    CHECK(read->text() == text);
    CHECK(socket_address(*read).value() == read);
    CHECK(socket_address(*read, AF_INET6).family() == AF_INET6);
    CHECK(socket_address(*read, AF_INET6).value() == read);
  }
}

TEST_CASE("what is no address and port is refused") {
  for (const std::string text : {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:+1", "192.0.2:1",
                                 "[192.0.2.1]:1", "::1:1", "[::1]", "[]:1", "[::1:1", "::1]:1", "localhost:1",
                                 "[fe80::1%no-such]:1", "[2001:db8::1%lo]:1", "192.0.2.1%lo:1"})
    CHECK_FALSE(ip_port::parse(text));
}

TEST_CASE("an IPv4 address that came by an IPv6 socket is the same") {
  CHECK(ip_address::parse("::ffff:192.0.2.1") == ip_address::parse("192.0.2.1"));
  CHECK(ip_address::parse("::ffff:192.0.2.1")->text() == "192.0.2.1");
}

TEST_CASE("addresses know their kind") {
  const auto is = [](const char* text) { return *ip_address::parse(text); };
  CHECK((is("127.9.9.9").is_loopback() && is("::1").is_loopback() && !is("128.0.0.1").is_loopback()));
  CHECK((is("169.254.3.4").is_link_local() && is("febf::1").is_link_local() && !is("fec0::1").is_link_local()));
  CHECK((is("0.0.0.0").is_any() && is("::").is_any() && !is("::1").is_any()));
  CHECK((is("239.255.76.67").is_multicast() && is("ff02::1").is_multicast() && !is("fe80::1").is_multicast()));
  CHECK((is("192.0.2.1").is_v4() && !is("2001:db8::1").is_v4()));
  CHECK(ip_address::any_v4().is_any());
  CHECK(ip_address::loopback_v4() == is("127.0.0.1"));
}
