// How many reports of mismatches get into a publisher's log.
#include "core/types/report_limit.h"

#include <string>

#include "support/catch.h"

using namespace orc::detail;

namespace {

struct fixture {
  // How many of 1,000 reports of this subscriber get into the log.
  int passed(const std::string& subscriber) {
    int count = 0;
    for (int n = 0; n < 1000; ++n) {
      if (!limit.allows(subscriber, now)) continue;
      limit.charge(subscriber, now);
      ++count;
    }
    return count;
  }

  report_limit limit;
  monotonic::time_point now{std::chrono::seconds(1)};  // just after the start of the host
};

}  // namespace

TEST_CASE("report limit: each subscriber has a budget, which comes back slowly", "[unit]") {
  fixture f;
  CHECK(f.passed("viewer (1)") == report_limit::at_once);
  CHECK(f.passed("viewer (1)") == 0);
  CHECK(f.passed("viewer (2)") == report_limit::at_once);
  f.now += report_limit::per_report;
  CHECK(f.passed("viewer (1)") == 1);
  f.now += std::chrono::hours(24);
  CHECK(f.passed("viewer (1)") == report_limit::at_once);
}

TEST_CASE("report limit: any number of subscribers writes a bounded log", "[unit]") {
  fixture f;
  int count = 0;
  for (int n = 0; n < 1000; ++n) count += f.passed("stranger (" + std::to_string(n) + ")");
  CHECK(count == report_limit::all_at_once);
  count = 0;
  for (int n = 0; n < 1000; ++n) {
    f.now += std::chrono::seconds(6);
    count += f.passed("stranger (" + std::to_string(n) + ")");
  }
  CHECK(count == 100);
}

TEST_CASE("report limit: of more subscribers than it remembers, those that reported most lately stay", "[unit]") {
  fixture f;
  CHECK(f.passed("noisy (1)") == report_limit::at_once);
  for (std::size_t n = 0; n < report_limit::max_subscribers + 10; ++n) {
    const std::string other = "other (" + std::to_string(n) + ")";
    REQUIRE(f.limit.allows(other, f.now));
    f.limit.charge(other, f.now);
  }
  CHECK(f.passed("noisy (1)") == 0);
}
