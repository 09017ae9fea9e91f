#include "transport/multicast/repair_progress.h"

#include "support/catch.h"

using namespace orc::detail;
using namespace orc::detail::multicast;
using namespace std::chrono_literals;

namespace {

const monotonic::time_point start{1h};

// A reader that reports after each repair.
struct reader_of_repairs {
  bool repair(std::uint64_t newest, bool lacks_first, monotonic::duration later) {
    progress.sent();
    now += later;
    progress.reported(newest, lacks_first, now);
    return progress.is_in_vain(now);
  }
  repair_progress progress;
  monotonic::time_point now = start;
};

}  // namespace

TEST_CASE("repair progress: repairs that change nothing for a while are in vain", "[unit]") {
  reader_of_repairs of;
  CHECK_FALSE(of.repair(7, true, 10ms));  // the first report
  CHECK_FALSE(of.repair(7, true, 100ms));
  CHECK_FALSE(of.repair(7, true, 100ms));
  CHECK_FALSE(of.repair(7, true, 99ms));
  CHECK(of.repair(7, true, 102ms));
}

TEST_CASE("repair progress: reports that were on their way do not count", "[unit]") {
  reader_of_repairs of;
  CHECK_FALSE(of.repair(7, true, 1ms));
  for (int n = 0; n < 100; ++n) {
    of.now += 10ms;
    of.progress.reported(7, true, of.now);
    CHECK_FALSE(of.progress.is_in_vain(of.now));
  }
}

TEST_CASE("repair progress: a sample that completes, or its first part, is progress", "[unit]") {
  for (const bool completes : {true, false}) {
    reader_of_repairs of;
    for (std::uint64_t n = 1; n < 20; ++n) {
      CHECK_FALSE(of.repair(7, true, 100ms));
      CHECK_FALSE(of.repair(7, true, 100ms));
      CHECK_FALSE(of.repair(completes ? 7 + n : 7, completes, 100ms));
      of.progress.reported(completes ? 7 + n : 7, false, of.now);
    }
  }
}
