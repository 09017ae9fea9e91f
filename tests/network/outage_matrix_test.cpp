// Who is cut off from whom, how, and for how long: streams and the map are back within 1.5 s after the path is. Prints
// the table. Every row has a lab of its own. All rows run at the same time; in the long run a few, so that the slowest
// send is that of ORC and not that of a machine with too many programs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "network/rows.h"
#include "network/three_hosts.h"
#include "support/catch.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace {

constexpr int back_within_ms = 1500;
// What a busy machine adds to it: reading the answers of two processes, the scheduler.
constexpr int slack_ms = under_sanitizer ? 1500 : 300;
// A send never waits for a network: it takes microseconds, and what a busy machine adds.
constexpr int send_within_us = under_sanitizer ? 500'000 : 50'000;

struct cut_off {
  const char* name;
  std::size_t host;
  std::optional<std::size_t> from = {};
  bool loses_stream = true;
};
constexpr std::size_t broker_host = 0;
const cut_off publisher{"publisher", 1};
const cut_off subscriber{"subscriber", 2};
const cut_off broker{"broker", broker_host, {}, false};
const cut_off path{"publisher from broker", 1, broker_host, false};

struct row {
  cut_off who;
  outage how;
  std::vector<std::chrono::seconds> lengths;
  std::unique_ptr<lab> hosts = {};
  // What came of it
  std::vector<three_hosts::recovery> took = {};
  std::uint64_t missed = 0;
  std::int64_t slowest_send_us = 0;
  std::string failure = {};
};

bool is_usual(const cut_off& who, outage how) {
  if (how == outage::reject || who.from) return true;
  const bool is_subscriber = who.host == subscriber.host;
  return under_sanitizer ? is_subscriber && how == outage::silent : is_subscriber || how == outage::silent;
}

std::vector<std::chrono::seconds> lengths_of(outage how) {
  if (long_run() && how == outage::silent) return {1s, 5s, 8s, 40s, 120s, 600s};
  if (long_run()) return {1s, 5s, 8s, 40s, 120s};
  if (how != outage::silent) return {7s};
  return under_sanitizer ? std::vector<std::chrono::seconds>{20s} : std::vector<std::chrono::seconds>{7s, 20s};
}

std::deque<row> rows_of_this_run() {
  std::deque<row> rows;
  for (const auto& who : {publisher, subscriber, broker, path}) {
    for (const outage how : every_outage) {
      if (who.from && how != outage::ip && how != outage::reject) continue;  // a cable is all or nothing
      if (long_run() || is_usual(who, how)) rows.push_back({who, how, lengths_of(how)});
    }
  }
  return rows;
}

void run(row& of) try {
  three_hosts there(*of.hosts);
  for (const auto length : of.lengths) {
    there.await_samples(100);  // what came over two connections is sorted out
    of.took.push_back(there.after({of.who.host, of.how, of.who.from}, length));
  }
  of.missed = there.missed();
  of.slowest_send_us = there.slowest_send_us();
} catch (const std::exception& e) {
  of.failure = e.what();
}

void print(const row& of) {
  for (std::size_t i = 0; i < of.took.size(); ++i) {
    std::printf("  %-22s %-9s %4ld %6ld %6ld\n", of.who.name, to_string(of.how).c_str(),
                static_cast<long>(of.lengths[i].count()), static_cast<long>(of.took[i].stream_ms),
                static_cast<long>(of.took[i].map_ms));
  }
}

}  // namespace

TEST_CASE("1 and 7: streams and the map are back when the path is", "[network]") {
  auto rows = rows_of_this_run();
  std::string why;
  if (!run_rows(rows, why, 400ms, run)) return skip(why);

  std::int64_t slowest_send_us = 0;
  std::printf("back after (ms): cut off, how, for (s), stream, map\n");
  for (const auto& each : rows) {
    print(each);
    INFO(each.who.name << ", " << to_string(each.how) << ": " << each.failure);
    CHECK(each.failure.empty());
    CHECK(each.took.size() == each.lengths.size());
    for (const auto& took : each.took) {
      CHECK(took.stream_ms >= 0);
      CHECK(took.stream_ms <= back_within_ms + slack_ms);
      CHECK(took.map_ms >= 0);
      CHECK(took.map_ms <= back_within_ms + slack_ms);
    }
    if (!each.who.loses_stream) CHECK(each.missed == 0);
    slowest_send_us = std::max(slowest_send_us, each.slowest_send_us);
  }
  std::printf("slowest send meanwhile: %ld us\n", static_cast<long>(slowest_send_us));
  CHECK(slowest_send_us <= send_within_us);
}
