// The figures of a whole system, and how they outlive restarts.
#include "tools/view/system_meter.h"

#include <unistd.h>

#include "base/process/process_identity.h"
#include "support/catch.h"
#include "tools/view/broker_poller.h"

using namespace orc::view;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t s = 1'000'000'000;

const orc::participant_state robot{"p1", "robot", "host-a", 10, "liborc 0.1.0"};
const orc::participant_state viewer{"p2", "viewer", "host-b", 20, "liborc 0.1.0"};

orc::publication_state publication(std::string id, std::int64_t sampled_ns, std::uint64_t sent) {
  orc::publication_state made{.id = std::move(id), .participant = robot};
  made.endpoints = {
      {orc::transport::ipc, "ipc:///a"}, {orc::transport::tcp, "tcp://1"}, {orc::transport::tcp, "tcp://2"}};
  made.counters = {.sampled_ns = sampled_ns, .sent = sent, .bytes = sent * 10, .readers = 1};
  return made;
}

orc::subscription_state subscription(std::string id, orc::transport over, std::int64_t sampled_ns,
                                     std::uint64_t received, std::uint64_t missed) {
  orc::subscription_state made{.id = std::move(id), .participant = viewer};
  made.counters = {.received = received, .missed = missed, .transport = over, .sampled_ns = sampled_ns};
  return made;
}

snapshot with(std::vector<orc::topic_state> topics) {
  return {.topics = std::move(topics), .participants = {robot, viewer}};
}

// After n seconds: 100 samples a second, of which the subscription gets 90.
orc::topic_state arm(std::int64_t n, std::string publication_id = "pub", std::string subscription_id = "sub") {
  const auto count = static_cast<std::uint64_t>(n);
  return {
      .name = "arm",
      .publication = publication(std::move(publication_id), n * s, count * 100),
      .subscription_count = 1,
      .subscriptions = {subscription(std::move(subscription_id), orc::transport::tcp, n * s, count * 90, count * 10)}};
}

}  // namespace

TEST_CASE("view: topics, participants and hosts have their figures", "[unit][threads]") {
  system_meter meter;
  auto first = meter.take(with({arm(1)}));
  CHECK_FALSE(meter.knows_rates());
  CHECK_FALSE(first.topics.front().rate_hz);
  const auto now = meter.take(with({arm(2), {.name = "wanted", .subscription_count = 3}}));
  CHECK(meter.knows_rates());
  REQUIRE(now.topics.size() == 2);
  const topic_figures& topic = now.topics[0];
  CHECK(topic.rate_hz == 100);
  CHECK(topic.bytes_per_s == 1'000);
  CHECK(topic.publisher == robot);
  CHECK(topic.offered == std::vector{orc::transport::ipc, orc::transport::tcp});
  CHECK(topic.transports == std::vector<transport_use>{{orc::transport::tcp, 1}});
  CHECK(topic.missed == 20);
  CHECK(topic.missed_per_s == 10);
  CHECK(topic.subscriptions[0].rate_hz == 90);
  CHECK_FALSE(now.topics[1].publisher);
  CHECK_FALSE(now.topics[1].rate_hz);
  CHECK(now.topics[1].subscribers == 3);

  REQUIRE(now.participants.size() == 2);
  CHECK(now.participants[0].published == 1);
  CHECK(now.participants[0].sum.sent_hz == 100);
  CHECK(now.participants[0].sum.received_hz == 0);
  CHECK(now.participants[1].subscribed == 1);
  CHECK(now.participants[1].sum.received_hz == 90);
  CHECK(now.participants[1].sum.missed == 20);
  REQUIRE(now.hosts.size() == 2);
  CHECK(now.hosts[0].id == "host-a");
  CHECK(now.hosts[0].sum.sent_bytes_per_s == 1'000);
  CHECK(now.hosts[1].participants == 1);
  CHECK(now.hosts[1].sum.missed_per_s == 10);
}

TEST_CASE("view: each publisher of a shared topic has its figures, and the topic their sums", "[unit][threads]") {
  const auto shared = [](std::int64_t n) {
    orc::topic_state topic = arm(n);
    topic.shared = true;
    topic.others = {publication("other", n * s, static_cast<std::uint64_t>(n) * 20)};
    topic.others.front().participant = viewer;
    return topic;
  };
  system_meter meter;
  (void)meter.take(with({shared(1)}));
  const auto now = meter.take(with({shared(2)}));
  CHECK(meter.knows_rates());
  const topic_figures& topic = now.topics.front();
  REQUIRE(topic.shared_by.size() == 2);
  CHECK(topic.shared_by[0].publisher == robot);
  CHECK(topic.shared_by[0].rate_hz == 100);
  CHECK(topic.shared_by[1].publisher == viewer);
  CHECK(topic.shared_by[1].rate_hz == 20);
  CHECK(topic.rate_hz == 120);
  CHECK(topic.bytes_per_s == 1'200);
  CHECK(topic.sent == 240);
  CHECK_FALSE(topic.jitter);
  CHECK(now.participants[0].sum.sent_hz == 100);
  CHECK(now.participants[1].sum.sent_hz == 20);
  CHECK(now.participants[1].published == 1);
  CHECK(meter.take(with({arm(3)})).topics.front().shared_by.empty());
}

TEST_CASE("view: a publication that is new has no rate with the one before it", "[unit][threads]") {
  system_meter meter;
  (void)meter.take(with({arm(5)}));
  (void)meter.take(with({arm(6)}));
  auto now = meter.take(with({arm(7, "another")}));
  CHECK_FALSE(now.topics[0].rate_hz);
  CHECK(now.topics[0].missed_per_s == 10);
  now = meter.take(with({arm(8, "another")}));
  CHECK(now.topics[0].rate_hz == 100);
}

TEST_CASE("view: a publication on another host has its host and no figures, which nobody waits for",
          "[unit][threads]") {
  system_meter meter;
  orc::publication_state there{.id = "pub", .participant = robot};
  there.host_name = "arm";
  there.stale = true;
  (void)meter.take(with({arm(1)}));
  const auto now = meter.take(with({arm(2), {.name = "far", .publication = there}}));
  CHECK(meter.knows_rates());
  REQUIRE(now.topics.size() == 2);
  CHECK(now.topics[1].host_name == "arm");
  CHECK(now.topics[1].stale);
  CHECK_FALSE(now.topics[1].rate_hz);
  CHECK(now.topics[0].host_name.empty());
}

TEST_CASE("view: after a restart of the broker, subscriptions have other ids", "[unit][threads]") {
  system_meter meter;
  (void)meter.take(with({arm(5)}));
  (void)meter.take(with({arm(6)}));
  auto now = meter.take(with({arm(7, "pub", "sub of a new broker")}));
  CHECK(now.topics[0].rate_hz == 100);
  CHECK_FALSE(now.topics[0].missed_per_s);
  now = meter.take(with({arm(8, "pub", "sub of a new broker")}));
  CHECK(now.topics[0].missed_per_s == 10);
}

TEST_CASE("view: what was gone meanwhile begins anew", "[unit][threads]") {
  system_meter meter;
  (void)meter.take(with({arm(5)}));
  (void)meter.take(with({}));
  auto now = meter.take(with({arm(6)}));
  CHECK_FALSE(now.topics[0].rate_hz);
}

TEST_CASE("view: transports in use are counted, each once", "[unit][threads]") {
  system_meter meter;
  auto topic = arm(1);
  topic.subscriptions.push_back(subscription("2", orc::transport::ipc, s, 1, 0));
  topic.subscriptions.push_back(subscription("3", orc::transport::tcp, s, 1, 0));
  topic.subscriptions.push_back({.id = "4", .participant = viewer});
  topic.subscription_count = 4;
  const auto now = meter.take(with({topic}));
  CHECK(now.topics[0].transports == std::vector<transport_use>{{orc::transport::ipc, 1}, {orc::transport::tcp, 2}});
}

TEST_CASE("view: what this process misses, which only looks, is in no sum", "[unit][threads]") {
  system_meter meter;
  auto topic = arm(2);
  auto own = subscription("own", orc::transport::shm, 2 * s, 1, 1'000);
  own.participant = {"p3", "orc top", orc::detail::host_identity(), static_cast<std::uint32_t>(getpid()), ""};
  topic.subscriptions.push_back(own);
  topic.subscription_count = 2;
  snapshot of = with({topic});
  of.participants.push_back(own.participant);
  const auto now = meter.take(of);
  CHECK(now.topics[0].missed == 20);
  CHECK(now.topics[0].subscribers == 2);
  CHECK(now.topics[0].subscriptions[1].own);
  CHECK(now.topics[0].subscriptions[1].missed == 1'000);
  CHECK(now.participants[2].sum.missed == 0);
  CHECK(now.participants[2].subscribed == 1);
}

TEST_CASE("view: the broker is asked more rarely the longer its answers take", "[unit][threads]") {
  CHECK(pause_after(0ns) == 500ms);
  CHECK(pause_after(100ms) == 2s);
  CHECK(pause_after(10s) == 5s);
}
