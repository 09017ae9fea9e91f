#include "wire/multicast_url.h"

#include "support/catch.h"

namespace {

using orc::wire::multicast_url;

multicast_url good(std::string_view text) {
  auto parsed = multicast_url::parse(text);
  if (!parsed) FAIL(parsed.error().message());
  return *std::move(parsed);
}

}  // namespace

TEST_CASE("multicast url: LCM's default is the default, and does not leave the host", "[unit]") {
  for (const char* const text :
       {"", "udpm://239.255.76.67:7667", "udpm://239.255.76.67:7667?ttl=0", "udpm://239.255.76.67"}) {
    const auto url = good(text);
    CHECK(url.group.text() == "239.255.76.67");
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
  CHECK(url.from->text() == "10.0.0.7:4321");
  CHECK(url.source == 4322);
  CHECK(good(url.text()).text() == url.text());
}

TEST_CASE("multicast url: an IPv6 group stands in brackets, as addresses do in URLs", "[unit]") {
  const auto url = good("udpm://[FF15::0076:67]:99?ttl=1&interface=eth0&from=[2001:db8::1]:4321&source=4322");
  CHECK(!url.group.is_v4());
  CHECK(url.port == 99);
  CHECK(url.interface == "eth0");
  REQUIRE(url.from);
  CHECK(url.from->text() == "[2001:db8::1]:4321");
  CHECK(url.text() == "udpm://[ff15::76:67]:99?ttl=1&interface=eth0&from=[2001:db8::1]:4321&source=4322");
  CHECK(good(url.text()).text() == url.text());
  CHECK(good("udpm://[ff15::76:67]").text() == "udpm://[ff15::76:67]:7667?ttl=0");
  CHECK(good("udpm://[ff02::76:67]?ttl=0").is_of_one_interface());
  CHECK(good("udpm://[ff02::76:67]?ttl=1&interface=eth0").is_of_one_interface());
  CHECK(good("udpm://[ff11::76:67]?interface=lo").is_of_one_interface());
  CHECK(!url.is_of_one_interface());
  CHECK(!good("").is_of_one_interface());
}

TEST_CASE("multicast url: where an IPv6 group needs to know the interface, it says so", "[unit]") {
  const auto why = [](std::string_view text) {
    const auto parsed = multicast_url::parse(text);
    return parsed ? std::string() : parsed.error().message();
  };
  for (const char* const text :
       {"udpm://[ff01::7]:7667?ttl=1", "udpm://[ff02::7]:7667?ttl=1", "udpm://[ff12::7]?ttl=9"})
    CHECK(why(text).find("add &interface=eth0, or ttl=0") != std::string::npos);
  CHECK(why("udpm://[ff15::7]:7667?ttl=0&interface=eth0").find("stays on lo") != std::string::npos);
  CHECK(why("udpm://ff15::7:7667").find("in brackets") != std::string::npos);
}

TEST_CASE("multicast url: what is wrong is said with the URL and an example", "[unit]") {
  for (const char* const text : {"239.255.76.67:7667",
                                 "udp://239.255.76.67:7667",
                                 "udpm://",
                                 "udpm://:7667",
                                 "udpm://10.0.0.1:7667",
                                 "udpm://239.255.76.67:0",
                                 "udpm://239.255.76.67:65536",
                                 "udpm://239.255.76.67:x",
                                 "udpm://host:7667",
                                 "udpm://239.255.76.67:7667?ttl=256",
                                 "udpm://239.255.76.67:7667?ttl=-1",
                                 "udpm://239.255.76.67:7667?ttl",
                                 "udpm://239.255.76.67:7667?tll=1",
                                 "udpm://239.255.76.67:7667?fec=101",
                                 "udpm://239.255.76.67:7667?interface=",
                                 "udpm://239.255.76.67:7667?recv_buf_size=1",
                                 "udpm://239.255.76.67:7667?from=10.0.0.1",
                                 "udpm://239.255.76.67:7667?source=0",
                                 "udpm://239.255.76.67:7667?ttl=1&ttl=1x",
                                 "udpm://[2001:db8::1]:7667",
                                 "udpm://[::]:7667",
                                 "udpm://[ff10::1]:7667",
                                 "udpm://ff15::1",
                                 "udpm://[ff15::1]7667",
                                 "udpm://[ff15::1]:0",
                                 "udpm://[ff15::1",
                                 "udpm://[239.255.76.67]:7667",
                                 "udpm://[ff02::1%lo]:7667",
                                 "udpm://[ff15::1]:7667?from=10.0.0.1:5",
                                 "udpm://239.255.76.67:7667?from=[2001:db8::1]:5",
                                 "udpm://[ff15::1]:7667?from=[ff15::1]:5",
                                 "udpm://239.255.76.67:7667?from=239.255.76.67:5",
                                 "udpm://[ff15::1]:7667?from=[::]:5",
                                 "udpm://[ff15::1]:7667?from=[fe80::1%lo]:5",
                                 "udpm://[ff15::1]:7667?from=[2001:db8::1]:0",
                                 "udpm://[ff15::1]:7667?from=2001:db8::1:5"}) {
    const auto parsed = multicast_url::parse(text);
    INFO(text);
    REQUIRE(!parsed);
    CHECK(parsed.error().code() == orc::errc::bad_argument);
    const auto why = parsed.error().message();
    CHECK(why.find(text) != std::string::npos);
    CHECK(why.find(multicast_url::usual) != std::string::npos);
  }
}
