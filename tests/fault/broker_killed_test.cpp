// contract.md 4: the broker is for setup only. When it dies, live streams lose nothing; when it is back, the topic map
// is whole again.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
using steady = std::chrono::steady_clock;

namespace {

std::size_t complete_topics(raw_client& client, const std::string& prefix) {
  std::size_t complete = 0;
  std::string after;
  for (;;) {
    auto answer = client.ask(orc::wire::list_topics{.after = after, .limit = 0});
    auto* list = std::get_if<orc::wire::topic_list>(&answer);
    if (list == nullptr) return complete;
    for (const auto& topic : list->topics) {
      if (topic.topic.starts_with(prefix) && topic.publication && topic.subscription_count == 1) ++complete;
    }
    if (!list->more || list->topics.empty()) return complete;
    after = list->topics.back().topic;
  }
}

}  // namespace

TEST_CASE("broker: killed and restarted while 20 streams run at 1 kHz, no sample is lost and the map comes back",
          "[fault][threads]") {
  constexpr std::size_t streams = 20;
  const double hz = under_sanitizer ? 100 : 1000;
  broker_process address_broker;
  test_node publisher;
  test_node subscriber;
  publisher.must("open " + address_broker.endpoint());
  subscriber.must("open " + address_broker.endpoint());
  const auto topic = [](std::size_t n) { return "stream/" + std::to_string(n); };
  for (std::size_t n = 0; n < streams; ++n) {
    const std::string transport = n % 2 == 0 ? "ipc" : "tcp";
    publisher.must("register " + topic(n) + " " + transport);
    subscriber.must("request " + topic(n) + " " + transport + " 0 65536 " + std::to_string(patience_ms));
    subscriber.must("collect " + topic(n));
  }
  for (std::size_t n = 0; n < streams; ++n) publisher.must("stream " + topic(n) + " 100 " + std::to_string(hz) + " 0");

  std::minstd_rand random(3);
  std::int64_t slowest = 0;
  for (std::size_t kill = 0; kill < rounds(8, 50, 3); ++kill) {
    const auto before = subscriber.stats(topic(kill % streams)).received;
    address_broker.kill();
    CHECK(wait_until([&] { return subscriber.stats(topic(kill % streams)).received > before; }));
    work_for(std::chrono::microseconds(random() % 100'000));
    address_broker.start();
    const auto back = steady::now();
    raw_client client(address_broker.endpoint());
    CHECK(wait_until([&] { return complete_topics(client, "stream/") == streams; }));
    slowest = std::max(slowest, ms_since(back));
  }
  std::printf("topic map complete after the broker's return: slowest %ld ms\n", static_cast<long>(slowest));

  for (std::size_t n = 0; n < streams; ++n) {
    INFO(topic(n));
    publisher.ask("stop " + topic(n));
    const auto sent = publisher.progress(topic(n));
    CHECK(sent.failed == 0);
    CHECK(wait_until([&] { return subscriber.stats(topic(n)).last_value == sent.sent; }));
    const auto got = subscriber.stats(topic(n));
    CHECK(got.received == sent.sent);
    CHECK(got.gaps == 0);
    CHECK(got.missed == 0);
    CHECK(got.backwards == 0);
    CHECK(got.restarts == 0);
    CHECK(got.corrupt == 0);
  }
}

TEST_CASE("broker: inproc streams do not notice its death either", "[fault][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  REQUIRE(sender.register_topic("t", {.transports = {orc::transport::inproc}}).result());
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  auto publisher = sender.publisher("t");
  auto subscriber = receiver.subscriber("t");
  std::uint64_t value = 0;
  for (int life = 0; life < 3; ++life) {
    for (int n = 0; n < 1000; ++n) {
      REQUIRE(send_value(publisher, ++value));
      REQUIRE(value_of(subscriber.recv(patience_ms)) == value);
      if (n == 300) address_broker.kill();
      if (n == 600) address_broker.start();
    }
  }
}

TEST_CASE("broker: killed at random during joins, every join comes about", "[fault][threads]") {
  broker_process address_broker;
  const std::size_t joins = rounds(200, 1000, 20);
  std::atomic<std::size_t> done{0};
  std::atomic<bool> failed{false};
  std::mutex why_mutex;
  std::string why;
  std::thread joining([&] {
    const auto fail = [&](const std::string& text) {
      const std::lock_guard lock(why_mutex);
      why = text;
      failed = true;
    };
    for (std::size_t n = 0; n < joins && !failed; ++n) {
      orc::participant sender(address_broker.options("joins_sender"));
      orc::participant receiver(address_broker.options("joins_receiver"));
      const std::string topic = "join/" + std::to_string(n);
      const orc::transport kind = n % 3 == 0   ? orc::transport::inproc
                                  : n % 3 == 1 ? orc::transport::ipc
                                               : orc::transport::tcp;
      const auto declare = [&] {
        const auto registered = sender.register_topic(topic, {.transports = {kind}}).result();
        if (!registered) fail("register_topic: " + registered.error().message());
        auto publisher = sender.publisher(topic);
        if (!send_value(publisher, n + 1)) fail("send");
      };
      const auto request = [&] {
        const auto requested = receiver.request_topic(topic, {.transports = {kind}}).result();
        if (!requested) fail("request_topic: " + requested.error().message());
      };
      if (n % 2 == 0) {
        declare();
        request();
      } else {
        request();
        declare();
      }
      const auto got = receiver.recv_msg(topic, patience_ms);
      if (value_of(got) != n + 1) fail("join " + std::to_string(n) + " is deaf");
      ++done;
    }
  });
  // From this thread, since children die with the thread that started them.
  std::minstd_rand random(5);
  std::size_t kills = 0;
  while (done < joins && !failed) {
    const std::size_t until = done + 1 + random() % 10;
    static_cast<void>(wait_until([&] { return done >= until || done >= joins || failed; }));
    work_for(std::chrono::microseconds(random() % 5000));
    address_broker.kill();
    work_for(std::chrono::microseconds(random() % 5000));
    address_broker.start();
    ++kills;
  }
  joining.join();
  INFO(why << " after " << kills << " kills");
  CHECK(!failed);
  CHECK(done == joins);
  CHECK(kills > 0);
}

TEST_CASE("broker: started after its participants, it brings them together", "[fault][threads]") {
  broker_process address_broker(broker_process::at::nowhere);
  auto options = address_broker.options();
  options.broker_timeout = std::chrono::milliseconds(50);
  orc::participant sender(options);
  orc::participant receiver(options);
  const auto alone = sender.register_topic("early/bird", {.transports = {orc::transport::ipc}}).result();
  CHECK(alone.code() == orc::errc::no_broker);
  CHECK(receiver.request_topic("early/bird", {.transports = {orc::transport::ipc}}).result().code() ==
        orc::errc::no_broker);
  CHECK(sender.broker_endpoint().empty());
  // Declared all the same: it can be sent to, and waits for the broker.
  REQUIRE(sender.send_msg("early/bird", "worm", 4));
  CHECK(receiver.recv_msg("early/bird", 0).status() == orc::errc::nothing_new);
  address_broker.start();
  const auto got = receiver.recv_msg("early/bird", patience_ms);
  REQUIRE(got.size() == 4);
  CHECK(wait_until([&] { return sender.broker_endpoint() == address_broker.endpoint(); }));
  CHECK(sender.register_topic("early/bird", {.transports = {orc::transport::ipc}}).result());
}

TEST_CASE("broker: a set-up call that finds it dead says so in time and takes effect when it is back",
          "[fault][threads]") {
  broker_process address_broker;
  auto options = address_broker.options();
  options.broker_timeout = std::chrono::milliseconds(100);
  orc::participant sender(options);
  orc::participant receiver(address_broker.options());
  REQUIRE(wait_until([&] { return static_cast<bool>(sender.register_topic("before").result()); }));
  address_broker.kill();
  CHECK(sender.register_topic("meanwhile").result().code() == orc::errc::no_broker);
  REQUIRE(sender.send_msg("meanwhile", "x", 1));
  address_broker.start();
  REQUIRE(receiver.request_topic("meanwhile", {.connected_within = patience}).result());
  CHECK(receiver.recv_msg("meanwhile", patience_ms));
}

TEST_CASE("broker: two at once live side by side, a second one on the same endpoint gives up", "[fault][threads]") {
  for (const auto kind : {broker_process::at::ipc, broker_process::at::tcp}) {
    broker_process one(kind);
    broker_process other(kind);
    orc::participant sender(one.options());
    orc::participant stranger(other.options());
    orc::participant receiver(one.options());
    REQUIRE(sender.register_topic("t").result());
    REQUIRE(stranger.register_topic("t").result());  // another broker, another map
    REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
    REQUIRE(stranger.send_msg("t", "wrong", 5));
    REQUIRE(sender.send_msg("t", "right", 5));
    const auto got = receiver.recv_msg("t", patience_ms);
    REQUIRE(got.size() == 5);
    CHECK(std::memcmp(got.data(), "right", 5) == 0);

    child_process second({program("orc-broker"), "--listen", one.endpoint()});
    const auto status = second.wait();
    REQUIRE(status);
    CHECK(*status != 0);
    const std::string text = second.read_all();
    INFO(text);
    CHECK(text.find(one.endpoint()) != std::string::npos);
    // The first one is unharmed.
    CHECK(sender.register_topic("still/there").result());
  }
}
