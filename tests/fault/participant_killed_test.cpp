// contract.md 5: any process may die at any instruction; the others go on, it is cleaned up after, and restarted it
// resumes its topics.
#include <dirent.h>

#include <filesystem>
#include <random>
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("names: a second live publisher is refused and told who holds the topic", "[fault][threads]") {
  broker_process address_broker;
  orc::participant first(address_broker.options("first_robot"));
  orc::participant second(address_broker.options("second_robot"));
  REQUIRE(first.register_topic("arm/state").result());
  const auto refused = second.register_topic("arm/state").result();
  CHECK(refused.code() == orc::errc::name_taken);
  const std::string text = refused.error().message();
  INFO(text);
  CHECK(text.find("arm/state") != std::string::npos);
  CHECK(text.find("first_robot") != std::string::npos);
  CHECK(text.find(std::to_string(::getpid())) != std::string::npos);
  // The refused one cannot send, the holder can.
  CHECK(!second.send_msg("arm/state", "x", 1));
  REQUIRE(second.request_topic("arm/state", {.connected_within = patience}).result());
  REQUIRE(first.send_msg("arm/state", "y", 1));
  CHECK(second.recv_msg("arm/state", patience_ms));
  // Given up, it is free.
  REQUIRE(first.unregister_topic("arm/state"));
  CHECK(second.register_topic("arm/state").result());
}

TEST_CASE("names: a stopped publisher still holds its topic", "[fault][threads]") {
  broker_process address_broker;
  test_node holder;
  holder.must("open " + address_broker.endpoint());
  holder.must("register t any");
  holder.process().freeze();
  orc::participant thief(address_broker.options("thief"));
  CHECK(thief.register_topic("t").result().code() == orc::errc::name_taken);
  holder.process().thaw();
}

TEST_CASE("names: that of a dead publisher is free at once", "[fault][threads]") {
  broker_process address_broker;
  for (std::size_t n = 0; n < rounds(6, 100, 5); ++n) {
    test_node holder;
    holder.must("open " + address_broker.endpoint());
    holder.must("register t any");
    holder.process().kill();
    orc::participant next(address_broker.options("next"));
    const auto taken_over = next.register_topic("t").result();
    INFO(taken_over.error().message());
    REQUIRE(taken_over);
  }
}

TEST_CASE("death: a killed publisher that comes back resumes its topic with the subscribers it had",
          "[fault][threads]") {
  std::minstd_rand random(7);
  for (const std::string transport : {"shm", "ipc", "tcp"}) {
    INFO(transport);
    broker_process address_broker;
    test_node subscriber;
    subscriber.must("open " + address_broker.endpoint());
    subscriber.must("request t " + transport + " 1 64 0");
    subscriber.must("collect t");
    const std::size_t lives = rounds(15, 200, 5);
    for (std::size_t life = 0; life < lives; ++life) {
      test_node publisher;
      publisher.must("open " + address_broker.endpoint());
      publisher.must("register t " + transport);
      publisher.must("stream t 1000 5000 0");
      // Until its samples arrive, then dead at some instruction.
      REQUIRE(wait_until([&] { return subscriber.stats("t").restarts == life && subscriber.stats("t").received > 0; }));
      work_for(std::chrono::microseconds(random() % 5000));
      publisher.process().kill();
    }
    const auto got = subscriber.stats("t");
    CHECK(got.restarts == lives - 1);
    CHECK(got.backwards == 0);
    CHECK(got.corrupt == 0);
  }
}

TEST_CASE("death: publishers killed while they register leave nothing in the way", "[fault][threads]") {
  std::minstd_rand random(11);
  broker_process address_broker;
  test_node subscriber;
  subscriber.must("open " + address_broker.endpoint());
  subscriber.must("request t any 1 64 0");
  for (std::size_t n = 0; n < rounds(15, 300, 10); ++n) {
    test_node publisher;
    publisher.tell("open " + address_broker.endpoint());
    publisher.tell("register t any");
    publisher.tell("send t 1 8");
    work_for(std::chrono::microseconds(random() % 20'000));
    publisher.process().kill();
  }
  test_node survivor;
  survivor.must("open " + address_broker.endpoint());
  survivor.must("register t any");
  survivor.must("send t 4711 8");
  CHECK(wait_until([&] { return subscriber.ask("recv t 100").starts_with("sample 1 4711 "); }));
}

TEST_CASE("death: killed subscribers are forgotten and nobody else notices", "[fault][threads]") {
  std::minstd_rand random(13);
  for (const std::string transport : {"shm", "ipc", "tcp"}) {
    INFO(transport);
    broker_process address_broker;
    test_node publisher;
    test_node witness;
    publisher.must("open " + address_broker.endpoint());
    publisher.must("register t " + transport);
    witness.must("open " + address_broker.endpoint());
    witness.must("request t " + transport + " 0 4096 " + std::to_string(patience_ms));
    witness.must("collect t");
    publisher.must("stream t 1000 1000 0");
    const auto victim = [&] {
      test_node subscriber;
      subscriber.must("open " + address_broker.endpoint());
      subscriber.must("request t " + transport + " 1 64 " + std::to_string(patience_ms));
      subscriber.must("collect t");
      REQUIRE(wait_until([&] { return subscriber.stats("t").received > 3; }));
      work_for(std::chrono::microseconds(random() % 2000));
      subscriber.process().kill();
    };
    victim();
    const proc_stats before = stats_of(publisher.process().pid());
    for (std::size_t n = 0; n < rounds(15, 200, 5); ++n) victim();
    publisher.ask("stop t");
    const auto sent = publisher.progress("t").sent;
    CHECK(wait_until([&] { return witness.stats("t").last_value == sent; }));
    CHECK(witness.stats("t").gaps == 0);
    CHECK(witness.stats("t").missed == 0);
    CHECK(wait_until([&] { return stats_of(publisher.process().pid()).fds <= before.fds; }));
    CHECK(stats_of(publisher.process().pid()).threads <= before.threads);
  }
}

namespace {

std::size_t sockets_below(const std::filesystem::path& directory) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) n += entry.is_socket() ? 1u : 0u;
  return n;
}

}  // namespace

TEST_CASE("death: the broker forgets the dead, and a later participant sweeps their sockets", "[fault][threads]") {
  broker_process address_broker;
  raw_client client(address_broker.endpoint());
  constexpr std::size_t dead = 10;
  for (std::size_t n = 0; n < dead; ++n) {
    test_node publisher;
    publisher.must("open " + address_broker.endpoint());
    publisher.must("register dead/" + std::to_string(n) + " ipc");
    publisher.must("request dead/other any 1 64 0");
    publisher.process().kill();
  }
  CHECK(wait_until([&] { return !described(client, "dead/3").publication; }));
  CHECK(wait_until([&] { return described(client, "dead/other").subscription_count == 0; }));
  // Not the youngest ones are swept: they may be bound and not listening yet. So more than one participant may be
  // needed; each makes one socket itself.
  std::size_t later = 0;
  CHECK(wait_until([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    orc::participant next(address_broker.options());
    static_cast<void>(next.register_topic("later"));
    ++later;
    return wait_until([&] { return sockets_below(address_broker.directory().path()) <= 2; },
                      std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
  }));
  INFO(later << " later participants");
}

TEST_CASE("bounded: an orderly end leaves no socket behind", "[fault][threads]") {
  broker_process address_broker;
  const std::size_t before = sockets_below(address_broker.directory().path());
  orc::participant lasting(address_broker.options());
  for (int n = 0; n < 20; ++n) {
    REQUIRE(lasting.register_topic("t", {.transports = {orc::transport::ipc}}).result());
    REQUIRE(lasting.unregister_topic("t"));
    orc::participant brief(address_broker.options());
    const auto registered = brief.register_topic("u", {.transports = {orc::transport::ipc}}).result();
    INFO(n << ": " << registered.error().message());
    REQUIRE(registered);
  }
  CHECK(wait_until([&] { return sockets_below(address_broker.directory().path()) <= before; }, patience / 6));
}
