// Names of strangers that lead here, and pages of other servers.
#include "tools/web/http/host_check.h"

#include "support/catch.h"

namespace {

orc::detail::ip_port at(const char* text) {
  const auto found = orc::detail::ip_port::parse(text);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("web host check: on loopback", "[web]") {
  using orc::web::is_own_host;
  const auto local = at("127.0.0.1:8765");
  for (const char* good : {"localhost:8765", "LOCALHOST:8765", "127.0.0.1:8765", "[::1]:8765", "127.0.0.2:8765"}) {
    INFO(good);
    CHECK(is_own_host(good, local, "robot"));
  }
  for (const char* bad : {"", "localhost", "localhost:80", "localhost:8765x", "localhost:", "evil.example:8765",
                          "robot:8765", "localhost.evil.example:8765", "192.0.2.1:8765", "[::1:8765", "::1:8765",
                          "[127.0.0.1]:8765", "[localhost]:8765", "localhost:8765:8765", "127.0.0.1.:8765"}) {
    INFO(bad);
    CHECK_FALSE(is_own_host(bad, local, "robot"));
  }
}

TEST_CASE("web host check: on another address", "[web]") {
  using orc::web::is_own_host;
  const auto local = at("192.0.2.7:80");
  for (const char* good : {"192.0.2.7", "192.0.2.7:80", "robot", "Robot:80", "robot.local"}) {
    INFO(good);
    CHECK(is_own_host(good, local, "Robot"));
  }
  for (const char* bad : {"192.0.2.8", "localhost", "evil.example", "127.0.0.1", "robot.evil.example"}) {
    INFO(bad);
    CHECK_FALSE(is_own_host(bad, local, "Robot"));
  }
  CHECK_FALSE(is_own_host("", local, ""));
  CHECK(is_own_host("[2001:db8::7]:80", at("[2001:db8::7]:80"), ""));
}

TEST_CASE("web host check: origins", "[web]") {
  using orc::web::is_own_origin;
  CHECK_FALSE(is_own_origin("", "localhost:8765"));
  CHECK(is_own_origin("http://localhost:8765", "localhost:8765"));
  CHECK(is_own_origin("http://LocalHost:8765", "localhost:8765"));
  for (const char* bad : {"null", "http://localhost:8766", "http://evil.example", "http://127.0.0.1:8765", "file://",
                          "localhost:8765", "http://localhost:8765.evil.example"}) {
    INFO(bad);
    CHECK_FALSE(is_own_origin(bad, "localhost:8765"));
  }
}
