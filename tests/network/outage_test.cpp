// Single outages that broke streams: long ones, and those of a publisher that loses only the broker. All combinations:
// outage_matrix_test.cpp.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "network/three_hosts.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;

TEST_CASE("2: a publisher that lost only the broker keeps its streams", "[network]") {
  std::string why;
  const auto hosts = lab::make(3, why);
  if (!hosts) return skip(why);
  three_hosts there(*hosts);
  const auto before = there.received();
  hosts->cut_between(1, 0, outage::ip);
  std::this_thread::sleep_for(10s);
  const auto meanwhile = there.received() - before;
  CHECK(there.is_linked());
  CHECK(there.missed() == 0);
  CHECK(meanwhile > 500);  // of about 1000
  CHECK_FALSE(there.is_published());
  hosts->mend(1);
  // The broker hears of it again and tells the subscriber, who has the same link.
  CHECK(wait_until([&] { return there.is_published(); }));
  const auto told = there.received();
  CHECK(wait_until([&] { return there.received() > told + 50; }));
  CHECK(there.missed() == 0);
}

TEST_CASE("outages leave nothing behind", "[network]") {
  std::string why;
  const auto hosts = lab::make(3, why);
  if (!hosts) return skip(why);
  three_hosts there(*hosts);
  const std::size_t outages = rounds(15, 1000, 6);
  // What is kept from one outage to the next, a pool for instance, is there after the first ones.
  for (std::size_t n = 0; n < outages / 3; ++n) there.reset(n % 3);
  const auto early = there.footprints();
  for (std::size_t n = outages / 3; n < outages; ++n) there.reset(n % 3);
  // A connection whose end one side did not hear of is closed when nothing answers on it, by the broker after 25 s.
  auto late = there.footprints();
  CHECK(wait_until(
      [&] {
        late = there.footprints();
        return std::equal(std::begin(late.fds), std::end(late.fds), std::begin(early.fds), std::less_equal<>());
      },
      patience + std::chrono::seconds(30)));
  for (std::size_t i = 0; i < 3; ++i) {
    static constexpr const char* who[] = {"broker", "publisher", "subscriber"};
    std::printf("%s: %zu descriptors and %zu KiB after %zu outages, %zu and %zu KiB after %zu\n", who[i], early.fds[i],
                early.rss_kib[i], outages / 3, late.fds[i], late.rss_kib[i], outages);
    INFO(who[i]);
    CHECK(late.fds[i] <= early.fds[i]);
    if (!under_sanitizer) CHECK(late.rss_kib[i] <= early.rss_kib[i] + 1024);
  }
}
