#include "core/links/route.h"

#include <string>
#include <vector>

#include "base/network/ip_address.h"
#include "support/catch.h"

using namespace orc;
using namespace orc::detail;

namespace {

std::vector<std::string> in_order(const std::vector<wire::endpoint>& offered) {
  std::vector<std::string> addresses;
  for (const auto& each : in_order_of_route(offered)) addresses.push_back(each.address);
  return addresses;
}

}  // namespace

TEST_CASE("route: a subscriber tries at most 8 tcp endpoints, and one of each other transport", "[unit]") {
  std::vector<wire::endpoint> offered{{wire::transport::ipc, "ipc://a"}, {wire::transport::ipc, "ipc://b"}};
  std::vector<std::string> expected{"ipc://a"};
  for (int port = 1; port <= 12; ++port) {
    offered.push_back({wire::transport::tcp, "tcp://127.0.0.1:" + std::to_string(port)});
    if (port <= 8) expected.push_back(offered.back().address);
  }
  CHECK(in_order(offered) == expected);
}

TEST_CASE("route: what cannot be reached and link-local addresses are tried last", "[unit]") {
  CHECK(in_order(
            {{wire::transport::tcp, "tcp://a.name.is.not.looked.up:1"}, {wire::transport::tcp, "tcp://127.0.0.1:1"}}) ==
        std::vector<std::string>{"tcp://127.0.0.1:1", "tcp://a.name.is.not.looked.up:1"});
  CHECK(in_order({{wire::transport::tcp, "tcp://169.254.1.1:1"}, {wire::transport::tcp, "tcp://127.0.0.1:1"}})[0] ==
        "tcp://127.0.0.1:1");
}

TEST_CASE("route: a way to this host itself does not leave it", "[unit]") {
  CHECK_FALSE(route_to("ipc:///run/orc/broker"));
  CHECK_FALSE(route_to("tcp://5570"));
  const auto found = route_to("tcp://127.0.0.2:5570");
  REQUIRE(found);
  CHECK_FALSE(found->leaves_host);
  CHECK_FALSE(route_to("tcp://a.name.is.not.looked.up:1"));
}

TEST_CASE("route: ways of both families are compared", "[unit]") {
  if (!route_to("tcp://[::1]:1")) return test::skip("this host has no IPv6");
  CHECK_FALSE(route_to("tcp://[::1]:1")->leaves_host);
  CHECK(route_to("tcp://[::1]:1")->address == "::1");
  CHECK(route_to("tcp://[::ffff:127.0.0.1]:1")->address == "127.0.0.1");
  CHECK(in_order({{wire::transport::tcp, "tcp://[fe80::1]:1"},
                  {wire::transport::tcp, "tcp://169.254.1.1:1"},
                  {wire::transport::tcp, "tcp://127.0.0.1:1"},
                  {wire::transport::tcp, "tcp://[::1]:1"},
                  {wire::transport::tcp, "tcp://127.0.0.2:1"}})[0] == "tcp://127.0.0.2:1");
}

TEST_CASE("route: what is offered is neither loopback nor IPv6 link-local, and can be bound", "[unit]") {
  const auto all = outside_addresses();
  CHECK(all.size() <= wire::max_tcp_endpoints);
  for (const auto& each : all) {
    INFO(each);
    const auto address = orc::detail::ip_address::parse(each);
    REQUIRE(address);
    CHECK_FALSE(address->is_loopback());
    CHECK((address->is_v4() || !address->is_link_local()));
  }
}
