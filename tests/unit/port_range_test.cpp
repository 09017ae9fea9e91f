#include "base/network/port_range.h"

#include <set>
#include <string>

#include "support/catch.h"

using orc::detail::port_range;
using orc::detail::try_ports;

namespace {

port_range good(const std::string& text) { return *port_range::parse(text); }

}  // namespace

TEST_CASE("port_range: one port, a range, or any", "[unit]") {
  CHECK(good("").any());
  CHECK(good("40000") == port_range{40000, 40000});
  CHECK(good("40000-40100") == port_range{40000, 40100});
  CHECK(good("1-65535").size() == 65535);
  CHECK(good("40000-40100").text() == "40000-40100");
  CHECK(good("40000").text() == "40000");
  CHECK(good("40000-40100").contains(40100));
  CHECK_FALSE(good("40000-40100").contains(40101));
}

TEST_CASE("port_range: a wrong text is quoted, and the message says what to write", "[unit]") {
  for (const std::string text : {"0", "-", "40000-", "-40000", "65536", "70000-70001", "a-b", "40000 - 40100", "+1",
                                 "40000-40100-40200", "40000,40001", " ", "0-10"}) {
    const auto parsed = port_range::parse(text);
    INFO(text);
    REQUIRE(!parsed);
    const auto why = parsed.error().message();
    CHECK(why.find("'" + text + "'") != std::string::npos);
    CHECK(why.find("FIRST-LAST") != std::string::npos);
  }
  CHECK(port_range::parse("9-8").error().message().find("8-9") != std::string::npos);
}

TEST_CASE("port_range: each port is tried once, from any place on", "[unit]") {
  const port_range among{40000, 40004};
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    std::set<std::uint16_t> tried;
    CHECK_FALSE(try_ports(among, random, [&](std::uint16_t port) {
      CHECK(tried.insert(port).second);
      return false;
    }));
    CHECK(tried == std::set<std::uint16_t>{40000, 40001, 40002, 40003, 40004});
  }
  CHECK(among.all_taken("ss -ltnp").find("all 5 ports of 40000-40004") != std::string::npos);
}
