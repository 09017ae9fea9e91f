// Which of several hosts gets a name that all publish: one of them, whatever the network does.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/broker_mesh.h"
#include "support/budget.h"
#include "support/catch.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using program = broker_mesh::program;

namespace {

std::size_t holders(const std::vector<std::unique_ptr<program>>& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& each) { return each->holds(); }));
}

// Exactly one program has the name, and all brokers say the same.
void check_agreement(broker_mesh& mesh, const std::vector<std::unique_ptr<program>>& all) {
  CHECK(holders(all) == 1);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto seen = mesh.seen(n, "pose");
    REQUIRE(seen);
    for (const auto& each : all) CHECK(each->holds() == (seen->publication == each->id()));
  }
}

}  // namespace

TEST_CASE("federation: two hosts agree on who has a name, however long messages take", "[unit]") {
  const std::size_t cases = rounds(500, 2'000);
  for (unsigned seed = 1; seed <= cases; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto most_delay = std::chrono::milliseconds(random() % 800);
    const auto gap = std::chrono::milliseconds(random() % 2'000);
    broker_mesh mesh(2, seed, most_delay);
    std::vector<std::unique_ptr<program>> all;
    all.push_back(std::make_unique<program>(mesh, 0, "pose"));
    mesh.run(gap);
    all.push_back(std::make_unique<program>(mesh, 1, "pose"));
    mesh.run(mesh.drawn(1'500ms));
    mesh.join(0, 1, 1'000ms);
    mesh.run(12s);
    check_agreement(mesh, all);
    // The age as the other broker sees it is too small by the time on the way.
    if (gap > most_delay + 1ms) CHECK(all[0]->holds());
    const auto& loser = *all[all[0]->holds() ? 1 : 0];
    CHECK_THAT(loser.refusal(), contains(all[0]->holds() ? "on host host0" : "on host host1"));
  }
}

TEST_CASE("federation: four hosts agree on who has a name while their connections come and go", "[unit]") {
  const std::size_t cases = rounds(80, 300);
  for (unsigned seed = 1; seed <= cases; ++seed) {
    INFO("seed " << seed);
    broker_mesh mesh(4, seed, std::chrono::milliseconds(1 + seed % 300));
    std::vector<std::unique_ptr<program>> all;
    for (std::size_t n = 0; n < 4; ++n) {
      all.push_back(std::make_unique<program>(mesh, n, "pose"));
      mesh.run(mesh.drawn(400ms));
    }
    for (std::size_t one = 0; one < 4; ++one) {
      for (std::size_t other = 0; other < one; ++other) mesh.join(one, other, 2s);
    }
    for (int n = 0; n < 10; ++n) {
      mesh.run(mesh.drawn(500ms));
      mesh.cut(mesh.drawn(std::size_t{4}), mesh.drawn(std::size_t{4}));
    }
    mesh.run(25s);
    check_agreement(mesh, all);
  }
}

TEST_CASE("federation: a host that lost a name gets it when the winner leaves", "[unit]") {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    broker_mesh mesh(3, seed, 50ms);
    std::vector<std::unique_ptr<program>> all;
    for (std::size_t n = 0; n < 3; ++n) {
      all.push_back(std::make_unique<program>(mesh, n, "pose"));
      mesh.run(200ms);
    }
    for (const auto& [one, other] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
      mesh.join(static_cast<std::size_t>(one), static_cast<std::size_t>(other));
    mesh.run(10s);
    check_agreement(mesh, all);
    REQUIRE(all[0]->holds());
    all[0]->leave();
    mesh.run(10s);
    check_agreement(mesh, all);
    CHECK_FALSE(all[0]->holds());
  }
}

TEST_CASE("federation: after a partition both sides agree again, and the older publication keeps the name", "[unit]") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    broker_mesh mesh(2, seed, 20ms);
    mesh.join(0, 1);
    mesh.run(3s);
    mesh.part(0, 1);
    std::vector<std::unique_ptr<program>> all;
    const bool first_is_older = seed % 2 == 0;
    if (first_is_older) all.push_back(std::make_unique<program>(mesh, 0, "pose"));
    program other(mesh, 1, "other");
    mesh.run(1s);
    if (!first_is_older) {
      all.push_back(nullptr);
      auto older = std::make_unique<program>(mesh, 1, "pose");
      mesh.run(1s);
      all[0] = std::make_unique<program>(mesh, 0, "pose");
      all.push_back(std::move(older));
    } else {
      all.push_back(std::make_unique<program>(mesh, 1, "pose"));
    }
    mesh.run(1s);
    REQUIRE(holders(all) == 2);
    mesh.join(0, 1, 500ms);
    mesh.run(10s);
    check_agreement(mesh, all);
    CHECK(all[0]->holds() == first_is_older);
    CHECK(mesh.seen(0, "other")->host_name == "host1");
  }
}

// Each of two programs names three brokers, in an order of its own. Paths fail one by one, for a while that is shorter
// or longer than a lease; brokers lose each other and are restarted.
TEST_CASE("federation: programs that move between brokers go back, and a name has one owner", "[unit]") {
  const std::size_t cases = rounds(300, 100'000);
  for (unsigned seed = 1; seed <= cases; ++seed) {
    INFO("seed " << seed);
    broker_mesh mesh(3, seed, 20ms);
    for (std::size_t n = 0; n < 3; ++n) mesh.join(n, (n + 1) % 3);
    std::vector<std::unique_ptr<broker_mesh::traveller>> all;
    all.push_back(std::make_unique<broker_mesh::traveller>(mesh, 5, "pose", std::vector<std::size_t>{0, 1, 2}));
    mesh.run(mesh.drawn(3'000ms));
    all.push_back(std::make_unique<broker_mesh::traveller>(mesh, 6, "pose", std::vector<std::size_t>{1, 0, 2}));
    mesh.run(2s);
    for (int n = 0; n < 6; ++n) {
      auto& one = *all[mesh.drawn(std::size_t{2})];
      const std::size_t which = mesh.drawn(std::size_t{3});
      switch (mesh.drawn(std::size_t{4})) {
        case 0: mesh.restart(which); break;
        case 1: mesh.cut(which, (which + 1) % 3); break;
        default: one.set_path(which, false);
      }
      mesh.run(mesh.drawn(6'000ms));
      if (mesh.drawn(std::size_t{2}) == 0) one.set_path(which, true);
    }
    for (auto& each : all) {
      for (std::size_t n = 0; n < 3; ++n) each->set_path(n, true);
    }
    mesh.run(5s + 1s);  // a lease and 2 s, and a heartbeat until the loser is told
    std::size_t holders = 0;
    const auto owner = mesh.seen(0, "pose");
    REQUIRE(owner);
    for (const auto& each : all) {
      REQUIRE(each->is_at_first());
      if (each->holds()) ++holders;
      CHECK(each->holds() == (owner->publication == each->id()));
    }
    REQUIRE(holders == 1);
    for (std::size_t n = 0; n < 3; ++n) {
      const auto seen = mesh.seen(n, "pose");
      REQUIRE(seen);
      REQUIRE(seen->publication == owner->publication);
      CHECK_FALSE(seen->stale);
    }
  }
}
