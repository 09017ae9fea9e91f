// The lab itself: what it says about a network is worth as much as this.
#include "network/lab.h"

#include <string>

#include "support/catch.h"

using namespace orc::test;

TEST_CASE("lab: hosts hear each other, and one that is cut off does not", "[network]") {
  std::string why;
  const auto hosts = lab::make(3, why);
  if (!hosts) return skip(why);
  lab& all = *hosts;
  const auto hears = [&](std::size_t from, std::size_t to) {
    return all[from].sh("ip neigh flush all; ping -n -c 1 -W 1 " + all[to].address() +
                        " >/dev/null 2>&1 && echo yes || echo no") == "yes\n";
  };
  CHECK(all[0].sh("hostname") == "lab0\n");
  CHECK(hears(0, 1));
  CHECK(hears(1, 2));
  for (const outage how : every_outage) {
    INFO(to_string(how));
    all.cut(1, how);
    CHECK_FALSE(hears(0, 1));
    CHECK_FALSE(hears(1, 2));
    CHECK(hears(0, 2));
    CHECK((all[1].sh("ip -o link show eth0").find("NO-CARRIER") != std::string::npos) == (how == outage::carrier));
    all.mend(1);
    CHECK(hears(0, 1));
  }
  for (const outage how : {outage::ip, outage::reject}) {
    INFO(to_string(how));
    all.cut_between(1, 0, how);
    CHECK_FALSE(hears(0, 1));
    CHECK(hears(1, 2));
    all.mend(1);
    CHECK(hears(1, 0));
  }
}
