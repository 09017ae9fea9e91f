// Hostile programs that watch the broker, and an honest watcher beside them.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/control_stranger.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"
#include "support/wait_until.h"
#include "wire/control.h"

using namespace orc;
using namespace orc::test;

namespace {

constexpr std::size_t topics = 2'000;

// A participant with many topics.
void fill(raw_client& owner) {
  REQUIRE(std::holds_alternative<wire::welcome>(owner.ask(hello_of_this_process())));
  for (std::size_t i = 0; i < topics; ++i) {
    wire::register_topic what{"topic/" + std::string(100, 'x') + std::to_string(i), wire::id::random(), {}, {}};
    REQUIRE(std::holds_alternative<wire::topic_state>(owner.ask(what)));
  }
}

// An honest watcher hears of topics that come and go, each within the patience of a test.
void check_honest_watcher(const broker_process& broker, raw_client& owner) {
  directory_options options;
  options.broker = broker.endpoint();
  auto watch = directory(options).watch({.topics = {"honest/*"}});
  directory_change change;
  REQUIRE(watch.next_change(change, patience_ms));
  CHECK(change.what == directory_change::kind::complete);
  for (int i = 0; i < 10; ++i) {
    const wire::register_topic what{"honest/" + std::to_string(i), wire::id::random(), {}, {}};
    REQUIRE(std::holds_alternative<wire::topic_state>(owner.ask(what)));
    REQUIRE(watch.next_change(change, patience_ms));
    CHECK(change.topic.name == what.topic);
    REQUIRE(std::holds_alternative<wire::ack>(owner.ask(wire::unregister_topic{what.topic, what.publication})));
    REQUIRE(watch.next_change(change, patience_ms));
    CHECK(change.what == directory_change::kind::topic_gone);
  }
}

std::string worst_pattern() {
  std::string pattern = "topic/**";
  while (pattern.size() < wire::max_topic_name - 3) pattern += "x**";
  return pattern + "y";
}

}  // namespace

TEST_CASE("hostile watcher: slow patterns, asked for again and again, do not hold up an honest watcher", "[fault]") {
  broker_process broker;
  raw_client owner(broker.endpoint());
  fill(owner);
  std::vector<std::unique_ptr<control_stranger>> attackers;
  const wire::watch slow{std::vector<std::string>(wire::max_patterns, worst_pattern()), true, {}, 5'000};
  const auto frame = wire::encode({1, slow});
  for (int i = 0; i < 20; ++i) {
    attackers.push_back(std::make_unique<control_stranger>(broker.endpoint()));
    REQUIRE(attackers.back()->introduce());
    for (int n = 0; n < 100; ++n) (void)attackers.back()->send(frame);
  }
  check_honest_watcher(broker, owner);
}

TEST_CASE("hostile watcher: one that reads no answers costs the broker little memory", "[fault]") {
  broker_process broker;
  raw_client owner(broker.endpoint());
  fill(owner);
  const auto frame = wire::encode({1, wire::watch{{"**"}, true, {}, 0}});
  const auto before = stats_of(broker.process().pid()).own_kib;
  std::vector<std::unique_ptr<control_stranger>> attackers;
  for (int i = 0; i < 50; ++i) {
    attackers.push_back(std::make_unique<control_stranger>(broker.endpoint()));
    REQUIRE(attackers.back()->introduce());
    for (int n = 0; n < 1'000; ++n) (void)attackers.back()->send(frame);
  }
  check_honest_watcher(broker, owner);
  // Each: a full answer in the broker, what the kernel holds, and what it read of the questions.
  // A sanitizer keeps much of what was freed.
  if (!under_sanitizer) CHECK(stats_of(broker.process().pid()).own_kib < before + 50 * std::size_t{512});
}

TEST_CASE("hostile watcher: strange positions and patterns are answered or refused, and the connection lasts",
          "[fault]") {
  broker_process broker;
  raw_client owner(broker.endpoint());
  fill(owner);
  raw_client watcher(broker.endpoint());
  auto page = std::get<wire::changes>(watcher.ask(wire::watch{{"**"}, true, {}, 0}));
  CHECK(page.reset);
  const auto epoch = page.position.epoch;
  constexpr auto most = ~std::uint64_t{0};
  for (const auto& position : std::vector<wire::watch_position>{
           {epoch, most, most}, {epoch, 0, most}, {epoch, most, 1}, {epoch, 0, 1}, {most, 1, 1}, {0, most, most}}) {
    const auto answer = watcher.ask(wire::watch{{"**"}, true, position, 0});
    CHECK(std::holds_alternative<wire::changes>(answer));
  }
  for (const auto& patterns : {std::vector<std::string>{""}, std::vector<std::string>{"a b"},
                               std::vector<std::string>(wire::max_patterns + 1, "a")}) {
    const auto answer = watcher.ask(wire::watch{patterns, true, {}, 0});
    REQUIRE(std::holds_alternative<wire::error>(answer));
    CHECK(std::get<wire::error>(answer).code == wire::error_code::bad_request);
  }
  CHECK(std::holds_alternative<wire::changes>(watcher.ask(wire::watch{{"**"}, true, {}, 0})));
}
