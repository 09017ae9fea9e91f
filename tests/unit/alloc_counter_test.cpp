// The counter behind "no heap allocation in steady state" must count, or that test says nothing.
#include "support/alloc_counter.h"

#include <memory>
#include <string>
#include <thread>

#include "support/catch.h"

using orc::test::alloc_counter;

TEST_CASE("alloc_counter: counts this thread's allocations while it lives", "[unit][threads]") {
  if (!alloc_counter::counts()) return orc::test::skip("a sanitizer has the operator new");
  std::size_t none = 1;
  std::size_t some = 0;
  {
    const alloc_counter counter;
    none = counter.count();
    const auto number = std::make_unique<int>(1);
    const auto numbers = std::make_unique<int[]>(100);
    const std::string text(1000, 'x');
    some = counter.count();
  }
  CHECK(none == 0);
  CHECK(some == 3);
  const auto outside = std::make_unique<int>(2);
  const alloc_counter again;
  std::thread([] { const std::string text(1000, 'x'); }).join();
  CHECK(again.count() <= 1);  // the thread's own start, not what it does
}
