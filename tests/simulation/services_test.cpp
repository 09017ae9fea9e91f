// Conversations of services on networks that fail, with time that is counted, not waited for. To repeat a seed:
// ORC_SIMULATION_SEED=17 orc_simulation_tests "services*" prints its scenario.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "simulation/service_world.h"
#include "support/budget.h"
#include "support/catch.h"

using namespace orc::test;

TEST_CASE("services: each client calls again when the network has healed", "[simulation]") {
  const char* const chosen = std::getenv("ORC_SIMULATION_SEED");
  const std::uint64_t first = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  const std::uint64_t seeds = chosen != nullptr ? 1 : rounds(10'000, 1'000'000);
  const auto begun = std::chrono::steady_clock::now();
  std::size_t failed = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failed < 5; ++seed) {
    service_world world({.seed = seed, .departure_ends = seed % 2 == 1});
    const std::string wrong = world.run();
    if (chosen != nullptr) std::printf("%s", world.story().c_str());
    if (wrong.empty()) continue;
    ++failed;
    FAIL_CHECK("seed " << seed << ": " << wrong << "\n" << world.story());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%llu seeds in %.1f s\n", static_cast<unsigned long long>(seeds), took.count());
}
