// The directory beside a real broker and real participants.
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/files/unique_fd.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/raw_socket.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
using kind = orc::directory_change::kind;

namespace {

orc::directory_options options(const broker_process& broker) {
  return {.broker = broker.endpoint(), .broker_timeout = patience};
}

struct follower {
  follower(const broker_process& broker, orc::watch_options wanted)
      : watch(orc::directory(options(broker)).watch(std::move(wanted))) {}

  // Follows changes up to the first for which `done` is true. False: none came for as long as patience lasts; how long
  // thousands of them take together is the machine's affair.
  bool until(const std::function<bool(const orc::directory_change&)>& done) {
    auto newest = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < newest + patience) {
      orc::directory_change change;
      const auto told = watch.next_change(change, 1'000);
      if (!told) {
        if (told.code() != orc::errc::timed_out) FAIL(told.error().message());
        continue;
      }
      newest = std::chrono::steady_clock::now();
      ++count[change.what];
      if (change.what == kind::topic) topics[change.topic.name] = change.topic;
      if (change.what == kind::topic_gone) CHECK(topics.erase(change.topic.name) == 1);
      if (change.what == kind::participant) participants[change.participant.id] = change.participant;
      if (change.what == kind::participant_gone) CHECK(participants.erase(change.participant.id) == 1);
      if (change.what == kind::host) hosts[change.host.id] = change.host.participants;
      if (change.what == kind::host_gone) CHECK(hosts.erase(change.host.id) == 1);
      if (done(change)) return true;
    }
    return false;
  }
  bool until(kind what) {
    return until([what](const auto& change) { return change.what == what; });
  }

  orc::directory_watch watch;
  std::map<kind, std::size_t> count;
  std::map<std::string, orc::topic_state> topics;
  std::map<std::string, orc::participant_state> participants;
  std::map<std::string, std::size_t> hosts;
};

}  // namespace

TEST_CASE("directory: topics, one topic, participants, hosts and the broker", "[integration][threads]") {
  broker_process broker;
  orc::directory directory(options(broker));
  std::vector<orc::topic_state> topics;
  REQUIRE(directory.topics("**", topics));
  CHECK(topics.empty());

  orc::participant robot(broker.options("robot"));
  orc::participant viewer(broker.options("viewer"));
  orc::topic_options described;
  described.type = {.name = "Pose", .schema_encoding = "text", .message_encoding = "text", .schema = "double x;"};
  described.keep_last = false;
  REQUIRE(robot.register_topic("arm/position", described));
  REQUIRE(robot.register_topic("leg/position"));
  REQUIRE(viewer.request_topic("arm/position", {.connected_within = patience, .max_age = std::chrono::milliseconds(50)})
              .result());
  REQUIRE(robot.send_msg("arm/position", "12345678", 8));

  REQUIRE(directory.topics("**", topics));
  REQUIRE(topics.size() == 2);
  CHECK(topics[0].name == "arm/position");
  CHECK(topics[1].name == "leg/position");
  REQUIRE(directory.topics("arm/*", topics));
  REQUIRE(topics.size() == 1);

  orc::topic_state found;
  REQUIRE(directory.describe("arm/position", found));
  REQUIRE(found.publication);
  CHECK(found.publication->participant.name == "robot");
  CHECK(found.publication->id.size() == 32);
  CHECK_FALSE(found.publication->keep_last);
  CHECK_FALSE(found.publication->endpoints.empty());
  REQUIRE(found.publication->type);
  CHECK(found.publication->type->schema_size == 9);
  REQUIRE(found.subscriptions.size() == 1);
  CHECK(found.subscriptions[0].participant.name == "viewer");
  CHECK(found.subscriptions[0].max_age_ms == 50);
  CHECK(wait_until([&] {
    return directory.describe("arm/position", found) && found.publication->counters &&
           found.publication->counters->sent == 1 && found.subscriptions[0].counters &&
           found.subscriptions[0].counters->transport == orc::transport::inproc;
  }));

  std::vector<orc::participant_state> participants;
  REQUIRE(directory.participants(participants));
  REQUIRE(participants.size() == 2);
  CHECK(participants[0].library.starts_with("liborc "));
  CHECK(std::count_if(participants.begin(), participants.end(), [&](const auto& each) {
          return each.id == found.publication->participant.id && each.name == "robot";
        }) == 1);
  std::vector<orc::host_state> hosts;
  REQUIRE(directory.hosts(hosts));
  CHECK(hosts == std::vector<orc::host_state>{{participants[0].host, 2}});
  orc::broker_state state;
  REQUIRE(directory.broker(state));
  CHECK(state.endpoint == broker.endpoint());
  CHECK(state.version.starts_with("orc-broker "));
  CHECK(state.participants == 2);
}

TEST_CASE("directory: each call returns its problem, and none waits longer than asked", "[integration][threads]") {
  broker_process broker;
  orc::directory directory(options(broker));
  orc::topic_state found;
  CHECK(directory.describe("nothing", found).code() == orc::errc::unknown_topic);
  CHECK(directory.describe("no name", found).code() == orc::errc::bad_name);
  std::vector<orc::topic_state> topics;
  CHECK(directory.topics("no pattern", topics).code() == orc::errc::bad_argument);
  orc::directory_change change;
  CHECK(directory.watch({.topics = {"no pattern"}}).next_change(change, 0).code() == orc::errc::bad_argument);
  auto many = orc::watch_options{.topics = std::vector<std::string>(17, "a")};
  CHECK(directory.watch(many).next_change(change, 0).code() == orc::errc::bad_argument);
  CHECK(directory.watch().next_change(change, -2).code() == orc::errc::bad_argument);
  for (const auto* const wrong : {"none", "127.0.0.1:5570"})
    CHECK(orc::directory({.broker = wrong}).topics("**", topics).code() == orc::errc::bad_argument);

  broker_process nowhere(broker_process::at::nowhere);
  orc::directory alone({.broker = nowhere.endpoint(), .broker_timeout = std::chrono::milliseconds(300)});
  const auto missing = alone.topics("**", topics);
  CHECK(missing.code() == orc::errc::no_broker);
  CHECK(missing.error().message().find(nowhere.endpoint()) != std::string::npos);
  auto watch = alone.watch();
  CHECK(watch.next_change(change, 0).code() == orc::errc::nothing_new);
  const auto late = watch.next_change(change, 300);
  CHECK(late.code() == orc::errc::timed_out);
  CHECK(late.error().message().find("orc-broker") != std::string::npos);
}

TEST_CASE("directory: a descriptor ends calls that wait", "[integration][threads]") {
  broker_process nowhere(broker_process::at::nowhere);
  const orc::detail::unique_fd stop(::eventfd(0, EFD_CLOEXEC));
  orc::directory directory({.broker = nowhere.endpoint(), .broker_timeout = orc::forever, .stop_fd = stop.get()});
  auto watch = directory.watch();
  std::thread stopper([&] { ::eventfd_write(stop.get(), 1); });
  orc::directory_change change;
  CHECK(watch.next_change(change, -1).code() == orc::errc::closed);
  std::vector<orc::topic_state> topics;
  CHECK(directory.topics("**", topics).code() == orc::errc::closed);
  stopper.join();
}

TEST_CASE("directory: a broker that restarts between questions, or comes while it is asked, is no error",
          "[integration][threads]") {
  broker_process broker;
  orc::directory directory(options(broker));
  orc::broker_state before;
  REQUIRE(directory.broker(before));
  broker.restart();
  orc::broker_state after;
  REQUIRE(directory.broker(after));
  CHECK(after.epoch != before.epoch);
  broker.kill();
  orc::result asked = orc::errc::no_broker;
  std::thread asking([&] { asked = directory.broker(after); });
  broker.start();  // here, because the process ends with the thread that started it
  asking.join();
  INFO((asked ? std::string() : asked.error().message()));
  CHECK(asked);
}

TEST_CASE("directory watch: reports what exists, then what comes and goes, and registers nothing itself",
          "[integration][threads]") {
  broker_process broker;
  orc::participant robot(broker.options("robot"));
  REQUIRE(robot.register_topic("arm/one"));
  REQUIRE(robot.register_topic("leg/one"));
  follower watcher(broker, {.topics = {"arm/*"}, .participants = true, .hosts = true});
  REQUIRE(watcher.until(kind::complete));
  CHECK(watcher.topics.size() == 1);
  CHECK(watcher.participants.size() == 1);
  REQUIRE(watcher.hosts.size() == 1);
  CHECK(watcher.hosts.begin()->second == 1);

  REQUIRE(robot.register_topic("arm/two"));
  REQUIRE(watcher.until(kind::topic));
  REQUIRE(watcher.topics.contains("arm/two"));
  CHECK(watcher.topics["arm/two"].publication->participant.name == "robot");
  {
    orc::participant viewer(broker.options("viewer"));
    REQUIRE(viewer.request_topic("arm/two"));
    CHECK(watcher.until([](const auto& change) { return change.topic.subscription_count == 1; }));
    CHECK(watcher.participants.size() == 2);
    CHECK(watcher.hosts.begin()->second == 2);
  }
  REQUIRE(watcher.until(kind::participant_gone));
  REQUIRE(robot.unregister_topic("arm/two"));
  REQUIRE(watcher.until(kind::topic_gone));
  CHECK(watcher.topics.size() == 1);
  { const orc::participant ended(std::move(robot)); }
  REQUIRE(watcher.until([&](const auto&) { return watcher.topics.empty() && watcher.hosts.empty(); }));
  CHECK(watcher.count[kind::complete] == 1);
  CHECK(watcher.participants.empty());
}

TEST_CASE("directory watch: a broker that restarts is a change, and nothing is missed", "[integration][threads]") {
  broker_process broker;
  orc::participant robot(broker.options("robot"));
  REQUIRE(robot.register_topic("stays"));
  follower watcher(broker, {.participants = true});
  test_node goes;
  goes.must("open " + broker.endpoint());
  goes.must("register goes");
  REQUIRE(watcher.until([&](const auto&) { return watcher.topics.size() == 2 && watcher.count[kind::complete] == 1; }));
  broker.kill();
  REQUIRE(watcher.until(kind::broker_lost));
  goes.process().kill();
  broker.start();
  REQUIRE(watcher.until(kind::complete));
  CHECK_FALSE(watcher.topics.contains("goes"));
  if (!watcher.topics.contains("stays")) REQUIRE(watcher.until(kind::topic));
  CHECK(watcher.topics.contains("stays"));
}

TEST_CASE("directory watch: its descriptor is readable when there is a change", "[integration][threads]") {
  broker_process broker;
  orc::participant robot(broker.options("robot"));
  follower watcher(broker, {});
  orc::directory_change change;
  const auto drain = [&] {
    std::size_t told = 0;
    while (watcher.watch.next_change(change, 0)) ++told;
    return told;
  };
  CHECK(readable(watcher.watch.fd(), patience_ms));
  std::size_t told = 0;
  CHECK(wait_until([&] { return (told += drain()) > 0; }));
  REQUIRE(robot.register_topic("t"));
  told = 0;
  while (told == 0 && readable(watcher.watch.fd(), patience_ms)) told = drain();
  CHECK(told == 1);
  CHECK(change.topic.name == "t");
}

TEST_CASE("directory watch: ten thousand topics come and go", "[integration][threads]") {
  constexpr std::size_t many = under_sanitizer ? 2'000 : 10'000;
  constexpr std::size_t nodes = 4;
  broker_process broker;
  follower watcher(broker, {.topics = {"many/**"}});
  REQUIRE(watcher.until(kind::complete));
  std::vector<std::unique_ptr<test_node>> publishers;
  for (std::size_t n = 0; n < nodes; ++n) {
    publishers.push_back(std::make_unique<test_node>());
    publishers.back()->must("open " + broker.endpoint());
  }
  const auto tell_all = [&](const std::string& verb, const std::string& rest) {
    for (std::size_t i = 0; i < many; ++i)
      publishers[i % nodes]->tell(verb + " many/" + std::to_string(i / 100) + "/" + std::to_string(i) + rest);
  };
  // On other threads, because a publisher answers each line and waits when nothing reads its answers.
  const auto answers = [&] {
    for (std::size_t i = 0; i < many; ++i) {
      if (publishers[i % nodes]->answer(patience) != "ok") return false;
    }
    return true;
  };
  std::set<std::string> come;
  std::thread registering([&] { tell_all("register", " inproc"); });
  bool registered = false;
  std::thread reading([&] { registered = answers(); });
  CHECK(watcher.until([&](const auto& change) {
    come.insert(change.topic.name);
    return come.size() == many;
  }));
  registering.join();
  reading.join();
  CHECK(registered);
  CHECK(watcher.topics.size() == many);

  // One unregisters its topics, one says goodbye, and two are killed.
  for (std::size_t i = 0; i < many; i += nodes)
    publishers[0]->tell("unregister many/" + std::to_string(i / 100) + "/" + std::to_string(i));
  publishers[1]->tell("close");
  publishers[2]->process().kill();
  publishers[3]->process().kill();
  CHECK(watcher.until([&](const auto&) { return watcher.topics.empty(); }));
  CHECK(watcher.count[kind::topic_gone] == many);
  CHECK(watcher.count[kind::complete] == 1);
  CHECK(watcher.count[kind::broker_lost] == 0);
}

TEST_CASE("directory watch: a slow reader learns the last state", "[integration][threads]") {
  broker_process broker;
  follower slow(broker, {});
  follower quick(broker, {});
  REQUIRE(slow.until(kind::complete));
  REQUIRE(quick.until(kind::complete));
  orc::participant robot(broker.options("robot"));
  for (int i = 0; i < 200; ++i) {
    const std::string name = "brief/" + std::to_string(i);
    REQUIRE(robot.register_topic(name, {.transports = {orc::transport::inproc}}));
    REQUIRE(robot.unregister_topic(name));
  }
  REQUIRE(robot.register_topic("stays", {.transports = {orc::transport::inproc}}));
  const auto knows = [](follower& one) {
    return one.until([&](const auto&) { return one.topics.size() == 1 && one.topics.contains("stays"); });
  };
  CHECK(knows(quick));
  CHECK(knows(slow));
  // The slow one missed topics that came and went, but reported each end that it had reported the beginning of.
  CHECK(slow.count[kind::topic] <= 1 + 200);
  CHECK(slow.count[kind::topic] - slow.count[kind::topic_gone] == 1);
}

TEST_CASE("publisher: wait_readers waits for the number of links", "[integration][threads]") {
  broker_process broker;
  const auto over = GENERATE(as<std::string>{}, "inproc", "shm", "ipc", "tcp");
  const auto transports = to_transports(over);
  orc::participant robot(broker.options("robot"));
  REQUIRE(robot.register_topic("t", {.transports = transports}));
  auto publisher = robot.publisher("t");
  INFO(over);
  CHECK(publisher.wait_readers(0, 0));
  CHECK(publisher.wait_readers(1, 0).code() == orc::errc::timed_out);
  CHECK(publisher.wait_readers(1, 20).code() == orc::errc::timed_out);
  CHECK(publisher.wait_readers(1, -2).code() == orc::errc::bad_argument);
  std::vector<std::unique_ptr<orc::participant>> viewers;
  for (std::size_t n = 1; n <= 3; ++n) {
    std::thread joins([&] {
      viewers.push_back(std::make_unique<orc::participant>(broker.options("viewer")));
      CHECK(viewers.back()->request_topic("t"));
    });
    CHECK(publisher.wait_readers(n, patience_ms));
    CHECK(publisher.readers() == n);
    joins.join();
  }
  std::thread ends([&] { CHECK(robot.unregister_topic("t")); });
  CHECK(publisher.wait_readers(4, -1).code() == orc::errc::closed);
  ends.join();
  CHECK(orc::publisher().wait_readers(1, 0).code() == orc::errc::not_registered);
}
