// All attacks of orc_test_attacker at once, against one broker, two publishers and five subscribers, for a while
// (ORC_TEST_LONG=1: half an hour): nothing crashes or grows, streams lose nothing, and newcomers join.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/own_network.h"
#include "support/proc_stats.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr std::size_t max_broker_kib = 300 * 1024;
constexpr auto depth = " 0 4096 ";  // in order, through pauses of four seconds

struct reader {
  const char* topic;
  const char* transport;
  bool loses_nothing;
  std::unique_ptr<test_node> node = {};
};

class scene {
 public:
  explicit scene(bool multicast)
      : ipc_("ipc://" + directory_.file("broker")),
        tcp_("tcp://127.0.0.1:" + std::to_string(free_tcp_port())),
        broker_({program("orc-broker"), "--listen", ipc_, "--listen", tcp_, "--log-level", "error"}) {
    REQUIRE(wait_until([&] { return accepts_connections(ipc_) && accepts_connections(tcp_); }));
    for (auto& each : publishers_) {
      each = std::make_unique<test_node>();
      each->must("open " + ipc_);
    }
    publishers_[0]->must("register honest/1 ipc,tcp");
    publishers_[1]->must(multicast ? "register honest/2 shm,ipc,multicast" : "register honest/2 shm,ipc");
    for (auto& each : readers_) {
      const bool heard = multicast || std::string(each.transport) != "multicast";
      each.node = std::make_unique<test_node>();
      each.node->must("open " + ipc_);
      each.node->must("request " + std::string(each.topic) + ' ' + (heard ? each.transport : "ipc") + depth +
                      std::to_string(patience_ms));
      each.node->must("request bait tcp 1 1 0");
      each.node->must("collect " + std::string(each.topic));
      each.node->must("collect bait");
    }
    publishers_[0]->must("stream honest/1 100 1000 0");
    publishers_[1]->must("stream honest/2 100 1000 0");
  }

  [[nodiscard]] child_process attacker(int seconds) const {
    return child_process({program("orc_test_attacker"), std::to_string(seconds), "1", "2", "all", ipc_, tcp_});
  }

  // How long it takes a program to come and to publish, and to be linked too.
  struct coming {
    std::int64_t registered_ms = 0;
    std::int64_t linked_ms = 0;
  };
  coming newcomer() {
    const auto start = std::chrono::steady_clock::now();
    coming took;
    orc::participant participant({.broker = ipc_, .name = "newcomer", .broker_timeout = patience});
    const auto registered = participant.register_topic("newcomer/" + std::to_string(++newcomers_)).result();
    INFO(registered.error().message());
    REQUIRE(registered);
    took.registered_ms = ms_since(start);
    const auto requested = participant.request_topic("honest/1", {.connected_within = patience}).result();
    INFO(requested.error().message());
    REQUIRE(requested);
    took.linked_ms = ms_since(start);
    return took;
  }

  void watch() {
    REQUIRE(broker_.running());
    broker_kib_ = std::max(broker_kib_, stats_of(broker_.pid()).rss_kib);
    for (auto& each : publishers_) {
      REQUIRE(each->process().running());
      publisher_kib_ = std::max(publisher_kib_, stats_of(each->process().pid()).rss_kib);
    }
    for (auto& each : readers_) REQUIRE(each.node->process().running());
  }

  void check() {
    for (auto& each : publishers_) {
      const auto sent = each->progress(each == publishers_[0] ? "honest/1" : "honest/2");
      std::printf("sent %lu, failed %lu, slowest send %ld us\n", static_cast<unsigned long>(sent.sent),
                  static_cast<unsigned long>(sent.failed), static_cast<long>(sent.slowest_us));
      CHECK(sent.failed == 0);
    }
    for (auto& each : readers_) {
      const auto got = each.node->stats(each.topic);
      std::printf("%s over %s: received %lu, missed %lu, gaps %lu, oldest %ld us\n", each.topic, each.transport,
                  static_cast<unsigned long>(got.received), static_cast<unsigned long>(got.missed),
                  static_cast<unsigned long>(got.gaps), static_cast<long>(got.max_age_us));
      INFO(each.topic << " over " << each.transport);
      CHECK(got.received > 0);
      CHECK(got.corrupt == 0);
      CHECK(got.backwards == 0);
      CHECK(got.restarts == 0);
      if (!each.loses_nothing) continue;
      CHECK(got.missed == 0);
      CHECK(got.gaps == 0);
    }
    std::printf("broker: at most %zu KiB; publishers: at most %zu KiB\n", broker_kib_, publisher_kib_);
    if (!under_sanitizer) CHECK(broker_kib_ < max_broker_kib);  // AddressSanitizer keeps 256 MB of what was freed
  }

 private:
  orc::detail::temporary_directory directory_;
  const std::string ipc_;
  const std::string tcp_;
  child_process broker_;
  std::array<std::unique_ptr<test_node>, 2> publishers_;
  std::array<reader, 5> readers_{{{"honest/1", "ipc", true},
                                  {"honest/1", "tcp", false},
                                  {"honest/2", "shm", true},
                                  {"honest/2", "ipc", true},
                                  {"honest/2", "multicast", false}}};
  unsigned newcomers_ = 0;
  std::size_t broker_kib_ = 0;
  std::size_t publisher_kib_ = 0;
};

}  // namespace

TEST_CASE("attacked: streams lose nothing, nothing grows, and newcomers join", "[stress][threads]") {
  std::string why;
  const bool multicast = enter_own_network(why);
  scene honest(multicast);
  const int seconds = long_run() ? 1800 : 15;
  auto attacker = honest.attacker(seconds);
  std::vector<scene::coming> came;
  while (!attacker.wait(std::chrono::milliseconds(500))) {
    honest.watch();
    came.push_back(honest.newcomer());
  }
  std::sort(came.begin(), came.end(), [](const auto& a, const auto& b) { return a.linked_ms < b.linked_ms; });
  REQUIRE_FALSE(came.empty());
  const auto late = std::count_if(came.begin(), came.end(), [](const auto& each) { return each.linked_ms > 1000; });
  std::printf(
      "%zu newcomers: half of them joined within %ld ms, the slowest in %ld ms (published after %ld), "
      "%ld took more than a second\n%s",
      came.size(), static_cast<long>(came[came.size() / 2].linked_ms), static_cast<long>(came.back().linked_ms),
      static_cast<long>(came.back().registered_ms), static_cast<long>(late), attacker.read_all().c_str());
  CHECK(attacker.wait() == 0);
  honest.watch();
  honest.check();
}
