#include "base/network/host_addresses.h"

#include "base/network/name_lookup.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc;

TEST_CASE("host addresses: only names are looked up", "[unit]") {
  for (const std::string numeric : {"tcp://127.0.0.1:5570", "tcp://[::1]:5570", "ipc:///run/orc/broker", "tcp://5570",
                                    "tcp://:5570", "tcp://host:", "tcp://*:5570", "tcp://[no]:5570", "none", ""}) {
    INFO(numeric);
    CHECK_FALSE(orc::detail::names_a_host(numeric));
    CHECK(orc::detail::numeric_endpoints(numeric) == std::vector<std::string>{numeric});
  }
  CHECK(orc::detail::names_a_host("tcp://localhost:5570"));
  CHECK(orc::detail::numeric_endpoints("tcp://nowhere.invalid:5570").empty());
  CHECK(orc::detail::addresses_of_host("2001:db8::1") == std::vector{*orc::detail::ip_address::parse("2001:db8::1")});
  CHECK(orc::detail::numbers_in("tcp://[2001:db8::1]:7")->port == 7);
  CHECK_FALSE(orc::detail::numbers_in("udp://127.0.0.1:7"));
}

TEST_CASE("name lookup: one at a time, whose result is taken once", "[unit]") {
  detail::name_lookup names;
  CHECK_FALSE(names.try_take());
  REQUIRE(names.ask({"tcp://localhost:5570", "ipc:///x"}));
  CHECK(names.is_under_way());
  CHECK_FALSE(names.ask({"ipc:///y"}));
  std::optional<std::vector<std::vector<std::string>>> found;
  REQUIRE(test::wait_until([&] { return (found = names.try_take()).has_value(); }));
  REQUIRE(found->size() == 2);
  CHECK_FALSE((*found)[0].empty());
  CHECK((*found)[1] == std::vector<std::string>{"ipc:///x"});
  CHECK_FALSE(names.try_take());
  CHECK(names.ask({}));
}
