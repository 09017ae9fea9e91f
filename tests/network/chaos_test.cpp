// Four hosts whose brokers know each other, streams, commands, services and parameters between them, and a seeded
// scheduler that cuts, slows, kills and stops. After each round the network heals, and everything works after 5 s of
// quiet. ORC_TEST_SEED chooses the seed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "network/chaos_mesh.h"
#include "support/catch.h"

using namespace orc::test;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

unsigned seed_of_this_run() {
  const char* const given = std::getenv("ORC_TEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : 1;
}

// Begins and ends the faults when the plan says so; meanwhile each host claims the name.
void carry_out(const std::vector<fault>& plan, milliseconds length, std::mt19937& random, chaos_mesh& mesh) {
  struct event {
    milliseconds at;
    std::function<void()> happens;
  };
  std::vector<event> events;
  for (const auto& each : plan) {
    events.push_back({each.begins, [&] { mesh.begin(each); }});
    events.push_back({each.ends, [&] { mesh.end(each); }});
  }
  for (std::size_t host = 0; host < four_brokers::count; ++host)
    events.push_back({milliseconds(random() % static_cast<unsigned>(length.count())), [&, host] { mesh.claim(host); }});
  std::stable_sort(events.begin(), events.end(), [](const event& a, const event& b) { return a.at < b.at; });
  const auto start = std::chrono::steady_clock::now();
  for (const auto& each : events) {
    std::this_thread::sleep_until(start + each.at);  // the scenario
    each.happens();
  }
}

}  // namespace

TEST_CASE("a mesh works 5 s after random cuts, kills and stops, nothing comes twice or too late", "[network]") {
  std::string why;
  const auto hosts = lab::make(four_brokers::count, why);
  if (!hosts) return skip(why);
  chaos_mesh mesh(*hosts);
  const unsigned seed = seed_of_this_run();
  std::mt19937 random(seed);
  const auto length = long_run() ? 30'000ms : 16'000ms;
  const auto longest = long_run() ? 12'000ms : 6'000ms;
  const auto end = std::chrono::steady_clock::now() + (long_run() ? 30min : 0min);
  std::size_t faults = 0;
  int rounds = 0;
  bool works = true;
  do {
    const auto plan = chaos_plan(random, four_brokers::count, length, longest);
    carry_out(plan, length, random, mesh);
    std::this_thread::sleep_for(5s);  // the quiet that the promise names
    faults += plan.size();
    ++rounds;
    const auto wrongs = mesh.wrongs();
    works = wrongs.empty();
    std::string text = "seed " + std::to_string(seed) + ", round " + std::to_string(rounds) + ":\n";
    for (const auto& each : plan) text += "  " + to_string(each) + "\n";
    for (const auto& each : wrongs) text += each + "\n";
    INFO(text);
    CHECK(works);
  } while (works && std::chrono::steady_clock::now() < end);
  for (const auto& each : mesh.wrongs_at_the_end()) {
    works = false;
    UNSCOPED_INFO(each);
  }
  CHECK(works);
  std::printf("seed %u: %zu faults in %d rounds; %s\n", seed, faults, rounds, mesh.counts().c_str());
}
