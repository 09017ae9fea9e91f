// Four hosts, each with a broker of its own that knows the others.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "network/four_brokers.h"
#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t count = four_brokers::count;
const std::string& own_broker = four_brokers::own_broker;

// The goals hold on a quiet machine. The short tests run on a loaded one, and only show that it happens.
std::chrono::milliseconds within(std::chrono::milliseconds goal) { return long_run() ? goal : patience; }

std::unique_ptr<test_node> program_on(const lab_host& host) { return node_on(host, own_broker); }

}  // namespace

TEST_CASE("federation: four hosts that boot in any order see all topics, services and types", "[network]") {
  std::string why;
  const auto hosts = lab::make(count, why);
  if (!hosts) return skip(why);
  std::array<std::size_t, count> order{};
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  std::int64_t slowest = 0;
  const std::size_t boots = rounds(2, 24, 1);
  for (std::size_t n = 0; n < boots; ++n) {
    if (long_run())
      std::next_permutation(order.begin(), order.end());
    else
      std::shuffle(order.begin(), order.end(), random);
    four_brokers brokers(*hosts);
    std::vector<std::unique_ptr<test_node>> nodes;
    std::vector<child_process> servers;
    for (std::size_t host = 0; host < count; ++host) {
      nodes.push_back(program_on((*hosts)[host]));
      nodes.back()->must("type T" + std::to_string(host) + " jsonschema json {\"title\":\"" + std::to_string(n) +
                         "\"}");
      nodes.back()->tell("register pose" + std::to_string(host) + " tcp");
      auto words = (*hosts)[host].here();
      words.insert(words.end(),
                   {program("orc_test_call_peer"), "serve", own_broker, "arm" + std::to_string(host), "tcp"});
      servers.emplace_back(std::move(words));
    }
    for (const auto host : order) brokers.boot(host);
    const auto booted = std::chrono::steady_clock::now();
    const auto complete = [&] {
      for (std::size_t by = 0; by < count; ++by) {
        for (std::size_t of = 0; of < count; ++of) {
          const auto topic = "pose" + std::to_string(of);
          if (!brokers.knows(by, topic, of) || !brokers.knows(by, "arm" + std::to_string(of), of)) return false;
          if (!brokers.has_schema(by, brokers.seen(by, topic).publication->type->hash)) return false;
        }
      }
      return true;
    };
    REQUIRE(wait_until(complete));
    slowest = std::max(slowest, ms_since(booted));
    CHECK(ms_since(booted) <= within(1'000ms).count());
    for (const auto& each : nodes) CHECK(each->answer() == "ok");
  }
  std::printf("all known to all at most %lld ms after the last boot, in %zu orders\n", static_cast<long long>(slowest),
              boots);
}

TEST_CASE("federation: a broker that is killed costs no stream and no other host anything", "[network]") {
  std::string why;
  const auto hosts = lab::make(count, why);
  if (!hosts) return skip(why);
  four_brokers brokers(*hosts);
  brokers.boot_all();
  std::vector<std::unique_ptr<test_node>> nodes;
  const auto topic = [](std::size_t host) { return "pose" + std::to_string(host); };
  const auto reader_of = [](std::size_t host) { return (host + 1) % count; };
  for (std::size_t host = 0; host < count; ++host) {
    nodes.push_back(program_on((*hosts)[host]));
    start_stream(*nodes[host], topic(host), "tcp");
  }
  for (std::size_t host = 0; host < count; ++host) {
    auto& reader = *nodes[reader_of(host)];
    reader.must("request " + topic(host) + " tcp 0 10000 20000");
    reader.must("collect " + topic(host));
    REQUIRE(hears_more(reader, topic(host), 10));
  }
  std::mt19937 random(1);
  std::int64_t slowest_there = 0;
  std::int64_t slowest_elsewhere = 0;
  const std::size_t kills = rounds(4, 100 * count, 2);
  for (std::size_t n = 0; n < kills; ++n) {
    const std::size_t host = n < count ? n : random() % count;
    const std::size_t other = (host + 1 + random() % (count - 1)) % count;
    const std::size_t third = (other + 1) % count == host ? (host + 1) % count : (other + 1) % count;
    brokers.kill(host);
    // Meanwhile, programs on the others start and find each other.
    {
      const auto began = std::chrono::steady_clock::now();
      const auto publisher = program_on((*hosts)[other]);
      const auto here = "other" + std::to_string(n);
      publisher->must("register " + here + " tcp");
      REQUIRE(wait_until([&] { return brokers.knows(third, here, other); }));
      slowest_elsewhere = std::max(slowest_elsewhere, ms_since(began));
    }
    brokers.boot(host);
    const auto returned = std::chrono::steady_clock::now();
    const auto fresh = program_on((*hosts)[host]);
    const auto its = "new" + std::to_string(n);
    fresh->must("register " + its + " tcp");
    // The topics of its own programs and of all hosts are there again.
    fresh->must("request " + topic(other) + " tcp 1 0 20000");
    slowest_there = std::max(slowest_there, ms_since(returned));
    CHECK(ms_since(returned) <= within(1'000ms).count());
    CHECK(wait_until([&] { return brokers.knows(other, its, host); }));
  }
  for (std::size_t host = 0; host < count; ++host) {
    auto& reader = *nodes[reader_of(host)];
    CHECK(hears_more(reader, topic(host), 10));
    const auto heard = reader.stats(topic(host));
    INFO(topic(host));
    CHECK(heard.missed == 0);
    CHECK(heard.gaps == 0);
    CHECK(heard.backwards == 0);
    CHECK(heard.corrupt == 0);
    CHECK(heard.restarts == 0);
  }
  std::printf(
      "%zu brokers killed: a new program works at most %lld ms after its broker is back, and one on another host "
      "at most %lld ms after it starts\n",
      kills, static_cast<long long>(slowest_there), static_cast<long long>(slowest_elsewhere));
}

TEST_CASE("federation: a partition heals, and both sides agree on who has a name", "[network]") {
  std::string why;
  const auto hosts = lab::make(count, why);
  if (!hosts) return skip(why);
  four_brokers brokers(*hosts);
  brokers.boot_all();
  constexpr std::size_t alone = 3;
  const auto here = program_on((*hosts)[0]);
  const auto there = program_on((*hosts)[alone]);
  here->must("register before tcp");
  REQUIRE(wait_until([&] { return brokers.knows(alone, "before", 0); }));
  const auto length = long_run() ? 60'000ms : 4'000ms;
  std::int64_t slowest = 0;
  std::size_t n = 0;
  for (const auto how : {outage::silent, outage::carrier, outage::ip, outage::reject}) {
    const std::string mark = std::to_string(n++);
    hosts->cut(alone, how);
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(wait_until([&] { return brokers.seen(alone, "before").publication->stale; }));
    // The older one is on either side in turn.
    auto& older = n % 2 == 0 ? *here : *there;
    auto& younger = n % 2 == 0 ? *there : *here;
    const std::size_t winner = n % 2 == 0 ? 0 : alone;
    older.must("register twice" + mark + " tcp");
    // By more than what a message may take.
    const auto registered = std::chrono::steady_clock::now();
    REQUIRE(wait_until([&] { return ms_since(registered) > 1'000; }));
    younger.must("register twice" + mark + " tcp");
    here->must("register here" + mark + " tcp");
    there->must("register there" + mark + " tcp");
    REQUIRE(wait_until([&] { return std::chrono::steady_clock::now() - began >= length; }, length + patience));
    hosts->mend(alone);
    const auto mended = std::chrono::steady_clock::now();
    const auto healed = [&] {
      for (std::size_t by = 0; by < count; ++by) {
        if (!brokers.knows(by, "twice" + mark, winner) || !brokers.knows(by, "here" + mark, 0) ||
            !brokers.knows(by, "there" + mark, alone) || !brokers.knows(by, "before", 0))
          return false;
      }
      return true;
    };
    INFO(to_string(how));
    const bool is_healed = wait_until(healed);
    for (std::size_t host = 0; !is_healed && host < count; ++host)
      UNSCOPED_INFO(brokers.name(host) << ":\n" << topics_of((*hosts)[host], own_broker));
    REQUIRE(is_healed);
    const auto took = ms_since(mended);
    slowest = std::max(slowest, took);
    CHECK(took <= within(2'000ms).count());
    std::printf("%s: healed %lld ms after the network is back\n", to_string(how).c_str(), static_cast<long long>(took));
    // The loser is told by whom, and does not have the name.
    REQUIRE(wait_until([&] {
      const auto answer = younger.ask("register twice" + mark + " tcp");
      return answer.find("on host " + four_brokers::name(winner)) != std::string::npos;
    }));
  }
}
