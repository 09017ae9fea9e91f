// Multicast: which path is lost, how, and for how long. The stream is back within 1.5 s after the path is, no sample
// comes twice, and missed() counts exactly those that did not come. Prints the table. Every row has a lab of its own.
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "network/rows.h"
#include "network/three_hosts.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace {

constexpr int back_within_ms = 1500;
constexpr int slack_ms = under_sanitizer ? 1500 : 300;  // of a busy machine
constexpr std::uint64_t samples = 10;                   // of a stream that is back: repairs alone bring one a second
constexpr int sends_for_ms = 1000 * static_cast<int>(samples) / 100;

constexpr std::size_t broker = 0;
constexpr std::size_t publisher = 1;
constexpr std::size_t subscriber = 2;

struct fault {
  std::string name;
  std::function<void(const lab&)> fail;
  std::function<void(const lab&)> mend;
  std::vector<std::chrono::seconds> lengths;
  bool stream_goes_on = false;
  bool with_broker = true;
};

struct row {
  fault what;
  std::unique_ptr<lab> hosts = {};
  // What came of it
  std::vector<three_hosts::recovery> took = {};
  std::string failure = {};
};

const char* name_of(std::size_t host) {
  static constexpr const char* names[] = {"broker", "publisher", "subscriber"};
  return names[host];
}

// In the check one length of each kind, about as long as leases, links and announcements last.
std::vector<std::chrono::seconds> lengths(std::vector<std::chrono::seconds> usual) {
  return long_run() ? std::vector<std::chrono::seconds>{1s, 3s, 5s, 8s, 12s, 40s} : usual;
}

fault lost(std::size_t host, outage how, std::vector<std::chrono::seconds> usual, bool with_broker = true) {
  return {std::string(name_of(host)) + " " + to_string(how) + (with_broker ? "" : ", no broker"),
          [=](const lab& all) { all.cut(host, how); },
          [=](const lab& all) { all.mend(host); },
          lengths(std::move(usual)),
          host == broker,
          with_broker};
}

fault lost_between(std::size_t host, std::size_t other) {
  return {std::string(name_of(host)) + " from " + name_of(other),
          [=](const lab& all) { all.cut_between(host, other, outage::ip); }, [=](const lab& all) { all.mend(host); },
          lengths({7s}), other == broker};
}

fault flapping(std::size_t host) {
  return {std::string(name_of(host)) + " flaps",
          [=](const lab& all) {
            for (int n = 0; n < 6; ++n) {
              all.cut(host, outage::silent);
              std::this_thread::sleep_for(400ms);
              all.mend(host);
              std::this_thread::sleep_for(400ms);
            }
            all.cut(host, outage::silent);
          },
          [=](const lab& all) { all.mend(host); },
          {1s}};
}

fault moved(std::size_t host, bool with_broker = true) {
  return {std::string(name_of(host)) + " has another address" + (with_broker ? "" : ", no broker"),
          [](const lab&) {},
          [=, n = std::make_shared<int>(41)](const lab& all) {
            all.move(host, "10.78.0." + std::to_string(++*n + 10 * static_cast<int>(host)));
          },
          {1s, 1s},
          false,
          with_broker};
}

fault plugged(std::size_t host, bool with_broker = true, bool same_index = false) {
  return {std::string(name_of(host)) + " is plugged again" + (same_index ? ", same index" : "") +
              (with_broker ? "" : ", no broker"),
          [](const lab&) {},
          [=](const lab& all) { all.plug_again(host, same_index); },
          {1s, 1s},
          false,
          with_broker};
}

std::deque<row> rows_of_this_run() {
  std::deque<row> rows;
  const auto add = [&](fault what) { rows.push_back({std::move(what)}); };
  add(lost(publisher, outage::silent, {5s, 8s}));
  add(lost(subscriber, outage::silent, {5s}));
  add(lost(broker, outage::silent, {7s}));
  add(lost_between(publisher, broker));
  add(lost_between(subscriber, broker));
  add(lost_between(subscriber, publisher));
  add(lost(publisher, outage::mute, {5s}));
  add(lost(subscriber, outage::deaf, {5s}));
  add(lost(publisher, outage::silent, {6s}, false));
  add(flapping(publisher));
  add(moved(publisher));
  add(moved(subscriber));
  add(plugged(publisher));
  add(plugged(subscriber));
  add(plugged(subscriber, false));
  add(plugged(subscriber, true, true));
  if (!long_run()) return rows;
  for (const outage how : {outage::carrier, outage::ip, outage::reject, outage::deaf, outage::mute})
    for (const std::size_t host : {publisher, subscriber, broker}) add(lost(host, how, {}));
  add(lost(subscriber, outage::silent, {}, false));
  add(flapping(subscriber));
  add(flapping(broker));
  add(moved(publisher, false));
  add(moved(subscriber, false));
  add(plugged(publisher, false));
  add(plugged(publisher, true, true));
  add(plugged(subscriber, false, true));
  return rows;
}

void run(row& of) try {
  const lab& all = *of.hosts;
  three_hosts there(*of.hosts, "multicast", of.what.with_broker);
  const auto at_first = there.heard();
  for (const auto length : of.what.lengths) {
    there.await_samples(100);
    of.took.push_back(there.after([&] { of.what.fail(all); }, [&] { of.what.mend(all); }, length, samples));
  }
  if (of.what.stream_goes_on && there.missed() != 0) of.failure += "the stream was interrupted; ";
  const auto last = there.last_sent();
  if (!wait_until([&] { return there.heard().last_value == last; })) of.failure += "the last sample does not arrive; ";
  const auto heard = there.heard();
  const auto expected = heard.last_value - at_first.last_value - (heard.received - at_first.received);
  const auto counted = heard.missed - at_first.missed;
  if (heard.backwards != 0) of.failure += std::to_string(heard.backwards) + " samples came twice; ";
  if (heard.corrupt != 0) of.failure += "corrupt samples; ";
  if (counted != expected)
    of.failure += "missed() counts " + std::to_string(counted) + " instead of " + std::to_string(expected) + "; ";
} catch (const std::exception& e) {
  of.failure += e.what();
}

}  // namespace

TEST_CASE("1 and 7: over multicast a stream is back when the path is, and counts on", "[network]") {
  auto rows = rows_of_this_run();
  std::string why;
  if (!run_rows(rows, why, 200ms, run)) return skip(why);

  std::printf("back after (ms): what failed, for (s), stream, map\n");
  for (const auto& each : rows) {
    for (std::size_t i = 0; i < each.took.size(); ++i) {
      std::printf("  %-40s %4ld %6ld %6ld\n", each.what.name.c_str(), static_cast<long>(each.what.lengths[i].count()),
                  static_cast<long>(each.took[i].stream_ms), static_cast<long>(each.took[i].map_ms));
    }
    INFO(each.what.name << ": " << each.failure);
    CHECK(each.failure.empty());
    CHECK(each.took.size() == each.what.lengths.size());
    for (const auto& took : each.took) {
      CHECK(took.stream_ms >= 0);
      CHECK(took.stream_ms <= back_within_ms + sends_for_ms + slack_ms);
      CHECK(took.map_ms >= 0);
      CHECK(took.map_ms <= back_within_ms + slack_ms);
    }
  }
}
