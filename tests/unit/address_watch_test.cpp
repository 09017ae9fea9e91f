// When changes of the host's addresses are looked at. tests/network/address_change_test.cpp has real changes.
#include "base/network/address_watch.h"

#include <algorithm>

#include "support/catch.h"
#include "support/no_descriptors.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::detail::address_watch;
using orc::detail::monotonic;

namespace {
constexpr auto start = monotonic::time_point() + 1h;
constexpr auto never = monotonic::time_point::max();
}  // namespace

TEST_CASE("address watch: it begins with a look, and then waits for changes", "[unit]") {
  address_watch watch;
  CHECK(watch.fd() == -1);
  CHECK(watch.due() == never);
  watch.tick(start);
  CHECK(watch.fd() >= 0);
  CHECK(watch.due() == start + address_watch::quiet);
  watch.done();
  CHECK(watch.due() == never);
  const int fd = watch.fd();
  watch.tick(start + 1s);
  CHECK(watch.fd() == fd);
  CHECK(watch.due() == never);
}

TEST_CASE("address watch: while it cannot watch, it looks each time", "[unit]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  const no_descriptors limit;
  address_watch watch;
  for (auto now = start; now < start + 10s; now += 1s) {
    watch.tick(now);
    CHECK(watch.fd() == -1);
    CHECK(watch.due() == now + address_watch::quiet);
    watch.done();
  }
}

TEST_CASE("address watch: changes that do not cease are looked at all the same", "[unit]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  const no_descriptors limit;
  address_watch watch;  // each tick is a change
  for (auto now = start; now <= start + 5s; now += 50ms) {
    watch.tick(now);
    CHECK(watch.due() == std::min(now + address_watch::quiet, start + address_watch::longest));
  }
}
