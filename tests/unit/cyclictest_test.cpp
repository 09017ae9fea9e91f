// What `orc bench load` reads of cyclictest, whose output it prints beside its own figures.
#include "tools/orc/bench/cyclictest.h"

#include <string>

#include "support/catch.h"

using orc::cli::parse_cyclictest;

TEST_CASE("cyclictest: its histogram becomes quantiles, with those that were too late for it", "[unit]") {
  const auto found = parse_cyclictest(
      "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\n000003 000096\n000007 000002\n"
      "# Total: 000000098\n# Min Latencies: 00003\n# Avg Latencies: 00017\n# Max Latencies: 01090\n"
      "# Histogram Overflows: 00002\n# Histogram Overflow at cycle number:\n# Thread 0: 00045\n\n");
  REQUIRE(found);
  CHECK(found->late_us.count == 100);
  CHECK(found->late_us.p50 == 3);
  CHECK(found->late_us.p99 == 1090);
  CHECK(found->late_us.max == 1090);
  CHECK(found->missed == 2);
}

TEST_CASE("cyclictest: what is no histogram is told from one", "[unit]") {
  for (const char* text : {"", "\n", "policy: fifo: loadavg: 0.00", "# Histogram\n000000 000000\n", "-1 5\n", "5 -1\n",
                           "1 99999999999999999999\n", "1 10000000\n2 10000000\n", "# Histogram Overflows: 99999999\n"})
    CHECK_FALSE(parse_cyclictest(text));
}
