// The poller of the running system, without a broker.
#include "tools/web/live/live_system.h"

#include <string>

#include "support/catch.h"
#include "support/wait_until.h"

TEST_CASE("web live system: figures stay for a client that comes back at once", "[web]") {
  orc::web::live_system system("ipc:///nonexistent/broker", false);
  CHECK(system.refresh() == 0);
  CHECK_FALSE(system.text());
  system.open();
  std::uint64_t number = 0;
  REQUIRE(orc::test::wait_until([&] { return (number = system.refresh()) != 0; }));
  REQUIRE(system.text());
  CHECK(system.text()->find("\"problem\":\"\"") == std::string::npos);
  system.close();
  system.open();
  CHECK(system.text());
  CHECK(system.refresh() >= number);
  system.close();
}
