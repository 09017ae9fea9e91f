#include "transport/multicast/multicast_url.h"

#include <arpa/inet.h>

#include "support/catch.h"

namespace {

using orc::detail::multicast_url;

multicast_url good(std::string_view text) {
  auto parsed = multicast_url::parse(text);
  if (const auto* const wrong = std::get_if<orc::error>(&parsed)) FAIL(wrong->message());
  return std::get<multicast_url>(parsed);
}

}  // namespace

TEST_CASE("multicast url: LCM's default is the default, and does not leave the host", "[unit]") {
  for (const char* const text :
       {"", "udpm://239.255.76.67:7667", "udpm://239.255.76.67:7667?ttl=0", "udpm://239.255.76.67"}) {
    const auto url = good(text);
    CHECK(url.group.s_addr == inet_addr("239.255.76.67"));
    CHECK(url.port == 7667);
    CHECK(url.ttl == 0);
    CHECK(url.interface.empty());
    CHECK(url.fec == 0);
    CHECK(url.text() == "udpm://239.255.76.67:7667?ttl=0");
  }
}

TEST_CASE("multicast url: all parameters come back from the text", "[unit]") {
  const auto url = good(
      "udpm://224.1.2.3:99?fec=20&interface=eth0&ttl=3&recv_buf_size=2097152&reassembly=1000000&"
      "from=10.0.0.7:4321&source=4322");
  CHECK(url.port == 99);
  CHECK(url.ttl == 3);
  CHECK(url.receive_buffer == 2097152);
  CHECK(url.reassembly == 1000000);
  CHECK(url.interface == "eth0");
  CHECK(url.fec == 20);
  REQUIRE(url.from);
  CHECK(orc::detail::to_string(*url.from) == "10.0.0.7:4321");
  CHECK(url.source == 4322);
  CHECK(good(url.text()).text() == url.text());
}

TEST_CASE("multicast url: what is wrong is said with the URL and an example", "[unit]") {
  for (const char* const text :
       {"239.255.76.67:7667", "udp://239.255.76.67:7667", "udpm://", "udpm://:7667", "udpm://10.0.0.1:7667",
        "udpm://239.255.76.67:0", "udpm://239.255.76.67:65536", "udpm://239.255.76.67:x", "udpm://host:7667",
        "udpm://239.255.76.67:7667?ttl=256", "udpm://239.255.76.67:7667?ttl=-1", "udpm://239.255.76.67:7667?ttl",
        "udpm://239.255.76.67:7667?tll=1", "udpm://239.255.76.67:7667?fec=101", "udpm://239.255.76.67:7667?interface=",
        "udpm://239.255.76.67:7667?recv_buf_size=1", "udpm://239.255.76.67:7667?from=10.0.0.1",
        "udpm://239.255.76.67:7667?source=0", "udpm://239.255.76.67:7667?ttl=1&ttl=1x"}) {
    const auto parsed = multicast_url::parse(text);
    const auto* const wrong = std::get_if<orc::error>(&parsed);
    INFO(text);
    REQUIRE(wrong != nullptr);
    CHECK(wrong->code() == orc::errc::bad_argument);
    CHECK(wrong->message().find(text) != std::string::npos);
    CHECK(wrong->message().find(multicast_url::usual) != std::string::npos);
  }
}
