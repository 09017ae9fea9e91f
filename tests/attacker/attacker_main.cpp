// orc_test_attacker SECONDS SEED THREADS [ATTACK|all] BROKER…: attacks a broker, and the publications and subscriptions
// that it shows, with one attack after the other in each thread. Says in the end how often each was carried out.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "attacker/attack.h"

namespace {

using namespace orc::test;
using clock_type = std::chrono::steady_clock;

struct counted {
  explicit counted(attack which) : what(which) {}
  attack what;
  std::atomic<unsigned> times{0};
};

void fight(battlefield field, std::vector<std::unique_ptr<counted>>& attacks, clock_type::time_point end) {
  while (clock_type::now() < end) {
    counted& next = *attacks[field.below(attacks.size())];
    field.end = std::min(end, clock_type::now() + std::chrono::milliseconds(100 + field.below(1900)));
    next.what.run(field);
    ++next.times;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "usage: orc_test_attacker SECONDS SEED THREADS ATTACK|all BROKER…\n";
    return 2;
  }
  const std::string wanted = argv[4];
  std::vector<std::unique_ptr<counted>> attacks;
  for (const auto* group :
       {&attacks_on_broker(), &attacks_on_identity(), &attacks_on_publishers(), &attacks_on_subscribers()}) {
    for (const auto& each : *group) {
      if (wanted == "all" || wanted == each.name) attacks.push_back(std::make_unique<counted>(each));
    }
  }
  if (attacks.empty()) {
    std::cerr << "no such attack: " << wanted << '\n';
    return 2;
  }
  const auto end = clock_type::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::vector<std::thread> threads;
  for (int n = 0; n < std::atoi(argv[3]); ++n) {
    battlefield field{{argv + 5, argv + argc}, std::mt19937(static_cast<unsigned>(std::atoi(argv[2]) + n)), end};
    threads.emplace_back(
        [&attacks, end, field = std::move(field)]() mutable { fight(std::move(field), attacks, end); });
  }
  for (auto& each : threads) each.join();
  for (const auto& each : attacks) std::cout << each->what.name << ": " << each->times << '\n';
  return 0;
}
