// Shared topics while publishers, subscribers and the broker die: no subscriber sees an older sample of a publisher
// after a newer one, a late joiner gets the last of each, and a killed publisher leaves.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr std::size_t publishers = 8;

// Receives what the nodes stream (test_node_main.cpp) and checks the order of each stream.
class judge {
 public:
  judge(const broker_process& address_broker, const std::string& transport, const orc::request_options& how)
      : participant_(address_broker.options("judge")) {
    auto options = how;
    options.transports = to_transports(transport);
    const auto asked = participant_.request_topic("stop", options).result();
    if (!asked) throw std::runtime_error(asked.error().message());
    subscriber_ = participant_.subscriber("stop");
    thread_ = std::thread([this] { run(); });
  }
  ~judge() {
    stop_ = true;
    thread_.join();
  }
  judge(const judge&) = delete;
  judge& operator=(const judge&) = delete;

  [[nodiscard]] std::size_t linked() const {
    const auto known = subscriber_.publishers();
    return static_cast<std::size_t>(
        std::count_if(known.begin(), known.end(), [](const auto& each) { return each.connected; }));
  }
  [[nodiscard]] std::size_t listed() const { return subscriber_.publishers().size(); }
  // Publishers that are listed now and were heard since begin_anew(). Samples of others may still be in a queue.
  [[nodiscard]] std::size_t heard() {
    const auto known = subscriber_.publishers();
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(known.begin(), known.end(), [&](const auto& each) { return fresh_.contains(each.number); }));
  }
  void begin_anew() {
    const std::lock_guard lock(mutex_);
    fresh_.clear();
  }
  [[nodiscard]] std::uint64_t backwards() const { return backwards_; }
  [[nodiscard]] std::uint64_t mixed() const { return mixed_; }
  [[nodiscard]] std::string reason() const { return subscriber_.link().reason; }

 private:
  void run() {
    while (!stop_) {
      const orc::message sample = subscriber_.recv(20);
      if (!sample || sample.size() < 24) continue;
      std::uint64_t value = 0;
      std::uint64_t stream = 0;
      std::memcpy(&value, sample.data(), 8);
      std::memcpy(&stream, static_cast<const unsigned char*>(sample.data()) + 8, 8);
      const std::lock_guard lock(mutex_);
      auto& last = last_[stream];
      if (value <= last) ++backwards_;
      last = value;
      fresh_.insert(sample.publisher());
      // One number is one publisher, and none sends two streams here.
      const auto owner = owners_.emplace(sample.publisher(), stream).first;
      if (sample.publisher() == 0 || owner->second != stream || value != sample.sequence()) ++mixed_;
    }
  }

  orc::participant participant_;
  orc::subscriber subscriber_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> last_;
  std::map<std::uint32_t, std::uint64_t> owners_;
  std::set<std::uint32_t> fresh_;
  std::atomic<std::uint64_t> backwards_{0};
  std::atomic<std::uint64_t> mixed_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::unique_ptr<test_node> streaming_node(const broker_process& address_broker, const std::string& transport) {
  auto made = std::make_unique<test_node>();
  made->must("open " + address_broker.endpoint());
  made->must("share stop " + transport);
  made->must("stream stop 100 1000 0");
  return made;
}

orc::request_options newest_of_each() {
  orc::request_options options;
  options.newest_of = orc::newest_of::each;
  return options;
}

orc::request_options every_sample() {
  orc::request_options options;
  options.conflate = 0;
  options.depth = 4'096;
  return options;
}

}  // namespace

TEST_CASE("shared topics: eight publishers at 1 kHz, killed and restarted, keep the order of each",
          "[fault][threads]") {
  std::minstd_rand random(11);
  for (const std::string transport : {"shm", "ipc", "tcp", "multicast"}) {
    INFO(transport);
    broker_process address_broker;
    std::vector<std::unique_ptr<test_node>> nodes;
    for (std::size_t n = 0; n < publishers; ++n) nodes.push_back(streaming_node(address_broker, transport));
    judge newest(address_broker, transport, {});
    judge each(address_broker, transport, newest_of_each());
    judge every(address_broker, transport, every_sample());
    const auto all_linked = [&](judge& one) { return wait_until([&] { return one.linked() == publishers; }); };
    for (judge* const one : {&newest, &each, &every}) {
      INFO(one->reason());
      REQUIRE(all_linked(*one));
    }
    for (std::size_t life = 0; life < rounds(3, 100, 2); ++life) {
      nodes[random() % publishers]->process().kill();
      nodes[random() % publishers]->process().kill();
      // The killed ones leave.
      const auto alive = static_cast<std::size_t>(
          std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return node->process().running(); }));
      for (judge* const one : {&newest, &each, &every}) {
        REQUIRE(wait_until([&] { return one->listed() == alive && one->linked() == alive; }));
      }
      for (auto& node : nodes) {
        if (!node->process().running()) node = streaming_node(address_broker, transport);
      }
      judge late(address_broker, transport, newest_of_each());
      for (judge* const one : {&newest, &each, &every, &late}) REQUIRE(all_linked(*one));
      for (judge* const one : {&each, &every, &late}) {
        one->begin_anew();
        REQUIRE(wait_until([&] { return one->heard() == publishers; }));
        CHECK(one->mixed() == 0);
      }
      CHECK(late.backwards() == 0);
    }
    for (judge* const one : {&newest, &each, &every}) {
      CHECK(one->backwards() == 0);
      CHECK(one->mixed() == 0);
    }
  }
}

TEST_CASE("shared topics: a late joiner gets the last of each, also of a publisher that was killed since",
          "[fault][threads]") {
  for (const std::string transport : {"shm", "ipc", "tcp", "multicast"}) {
    INFO(transport);
    broker_process address_broker;
    std::vector<std::unique_ptr<test_node>> nodes;
    for (std::size_t n = 0; n < publishers; ++n) {
      nodes.push_back(std::make_unique<test_node>());
      nodes.back()->must("open " + address_broker.endpoint());
      nodes.back()->must("share stop " + transport);
      nodes.back()->must("send stop " + std::to_string(100 + n) + " 8");
    }
    orc::participant reader(address_broker.options("reader"));
    auto options = newest_of_each();
    options.transports = to_transports(transport);
    REQUIRE(reader.request_topic("stop", options).result());
    std::set<std::uint64_t> seen;
    const auto take = [&] {
      const auto got = reader.recv_msg("stop", 10);
      if (!got) return;
      std::uint64_t value = 0;
      std::memcpy(&value, got.data(), sizeof value);
      CHECK(seen.insert(value).second);
    };
    REQUIRE(wait_until([&] { return take(), seen.size() == publishers; }));
    nodes.resize(publishers / 2);  // kills the others
    const auto left = [&] { return reader.subscriber("stop").publishers().size(); };
    REQUIRE(wait_until([&] { return left() == publishers / 2; }));
    orc::participant late(address_broker.options("late"));
    REQUIRE(late.request_topic("stop", options).result());
    std::set<std::uint64_t> last;
    REQUIRE(wait_until([&] {
      const auto got = late.recv_msg("stop", 10);
      std::uint64_t value = 0;
      if (got) std::memcpy(&value, got.data(), sizeof value);
      if (got) last.insert(value);
      return last == std::set<std::uint64_t>{100, 101, 102, 103};
    }));
    take();
    CHECK(seen.size() == publishers);
  }
}

TEST_CASE("shared topics: a broker that dies and returns changes nothing for the streams", "[fault][threads]") {
  broker_process address_broker;
  std::vector<std::unique_ptr<test_node>> nodes;
  for (std::size_t n = 0; n < publishers; ++n) nodes.push_back(streaming_node(address_broker, "ipc"));
  judge every(address_broker, "ipc", every_sample());
  REQUIRE(wait_until([&] { return every.linked() == publishers; }));
  for (int life = 0; life < 3; ++life) {
    address_broker.kill();
    every.begin_anew();
    REQUIRE(wait_until([&] { return every.heard() == publishers; }));
    address_broker.start();
    judge late(address_broker, "ipc", newest_of_each());
    REQUIRE(wait_until([&] { return late.listed() == publishers && late.linked() == publishers; }));
    REQUIRE(wait_until([&] { return every.listed() == publishers && every.linked() == publishers; }));
    every.begin_anew();
    REQUIRE(wait_until([&] { return every.heard() == publishers; }));
    CHECK(late.mixed() == 0);
  }
  CHECK(every.backwards() == 0);
  CHECK(every.mixed() == 0);  // no link was made anew: the publishers kept their numbers
}

TEST_CASE("shared topics: shared and exclusive registration refuse each other", "[fault][threads]") {
  broker_process address_broker;
  orc::participant first(address_broker.options("first"));
  orc::participant second(address_broker.options("second"));
  orc::topic_options shared;
  shared.shared = true;
  REQUIRE(first.register_topic("stop", shared).result());
  auto refused = second.register_topic("stop").result();
  CHECK(refused.code() == orc::errc::name_taken);
  INFO(refused.error().message());
  CHECK(refused.error().message().find("is shared") != std::string::npos);
  CHECK(refused.error().message().find("first") != std::string::npos);
  REQUIRE(second.register_topic("stop", shared).result());
  REQUIRE(first.register_topic("arm").result());
  refused = second.register_topic("arm", shared).result();
  CHECK(refused.code() == orc::errc::name_taken);
  CHECK(refused.error().message().find("first") != std::string::npos);
  // A dead publisher is no obstacle, neither one that shared nor one that did not.
  test_node holder;
  holder.must("open " + address_broker.endpoint());
  holder.must("share left any");
  holder.must("register alone any");
  holder.process().kill();
  CHECK(second.register_topic("left").result());
  CHECK(second.register_topic("alone", shared).result());
}

TEST_CASE("shared topics: more publishers than there is room for are refused, and the others go on",
          "[fault][threads]") {
  broker_process address_broker;
  orc::topic_options shared;
  shared.shared = true;
  shared.transports = {orc::transport::ipc};
  std::vector<std::unique_ptr<orc::participant>> crowd;
  constexpr std::size_t room = 56;  // of 64, for one user
  std::size_t accepted = 0;
  for (std::size_t n = 0; n < 70; ++n) {
    crowd.push_back(std::make_unique<orc::participant>(address_broker.options("crowd" + std::to_string(n))));
    const auto done = crowd.back()->register_topic("stop", shared).result();
    if (done)
      ++accepted;
    else
      CHECK(done.code() == orc::errc::refused);
  }
  CHECK(accepted == room);
  orc::participant reader(address_broker.options("reader"));
  REQUIRE(reader.request_topic("stop", newest_of_each()).result());
  auto sub = reader.subscriber("stop");
  const auto linked = [&] {
    const auto known = sub.publishers();
    return std::count_if(known.begin(), known.end(), [](const auto& each) { return each.connected; });
  };
  REQUIRE(wait_until([&] { return linked() == room; }));
  for (std::size_t n = 0; n < room; ++n) REQUIRE(crowd[n]->send_msg("stop", &n, sizeof n));
  std::set<std::size_t> seen;
  REQUIRE(wait_until([&] {
    const auto got = sub.recv(10);
    std::size_t value = room;
    if (got) std::memcpy(&value, got.data(), sizeof value);
    if (got) seen.insert(value);
    return seen.size() == room;
  }));
  crowd.erase(crowd.begin());
  CHECK(crowd.back()->register_topic("stop", shared).result());  // there is room again
}
