// Connections to the broker that do what no honest program does: it neither ends nor grows, and serves the others.
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <list>
#include <set>
#include <thread>

#include "base/files/fd_limit.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/control_stranger.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

constexpr std::size_t some_kib = 24 * 1024;  // less than each of these attacks costs a broker that keeps what comes

// A broker on ipc and tcp, that may open `files`.
struct attacked {
  explicit attacked(int files = 1024)
      : broker({"/bin/sh", "-c", "ulimit -n " + std::to_string(files) + "; exec \"$0\" \"$@\"", program("orc-broker"),
                "--listen", ipc, "--listen", tcp, "--log-level", "error"}) {
    if (!wait_until([this] { return accepts_connections(ipc) && accepts_connections(tcp); }))
      throw std::runtime_error("orc-broker did not come up");
  }
  // Does a client that comes now get in?
  bool lets_in(const std::string& endpoint) const {
    raw_client newcomer(endpoint, true);
    return newcomer.receive().has_value() &&
           std::holds_alternative<wire::welcome>(newcomer.ask(hello_of_this_process("newcomer")));
  }
  std::size_t rss_kib() const { return stats_of(broker.pid()).rss_kib; }

  const orc::detail::temporary_directory directory;
  const std::string ipc = "ipc://" + directory.file("broker");
  const std::string tcp = "tcp://127.0.0.1:" + std::to_string(free_tcp_port());
  child_process broker;
};

std::string list_request() { return wire::encode({1, wire::list_topics{}}); }

// Makes an answer to ListTopics as long as a frame can be.
void fill(raw_client& owner) {
  REQUIRE(std::holds_alternative<wire::welcome>(owner.ask(hello_of_this_process("owner"))));
  for (int n = 0; n < 200; ++n) {
    const auto name = std::to_string(n) + std::string(250, 'x');
    REQUIRE(
        std::holds_alternative<wire::topic_state>(owner.ask(wire::register_topic{name, wire::id::random(), {}, {}})));
  }
}

}  // namespace

TEST_CASE("hostile client: claiming the routing id of the next connection does not end the broker",
          "[fault][threads]") {
  const attacked one;
  // libzmq numbers connections from what rand() gives, and never calls srand().
  std::set<std::uint32_t> next;
  std::srand(1);
  auto low = static_cast<std::uint32_t>(std::rand());
  for (int n = 0; n < 8; ++n) {
    const auto high = static_cast<std::uint32_t>(std::rand());
    for (std::uint32_t ahead = 0; ahead < 24; ++ahead) next.insert((high << 31 | low) + ahead);
    low = high;
  }
  std::list<control_stranger> claims;
  for (const auto number : next) {
    std::string identity(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) identity += static_cast<char>(number >> shift);
    (void)claims.emplace_back(one.ipc).introduce(identity);
  }
  for (int n = 0; n < 24; ++n) REQUIRE(one.lets_in(one.ipc));
}

TEST_CASE("hostile client: an endless message of many frames ends the connection at its second frame",
          "[fault][threads]") {
  const attacked one;
  raw_client bystander(one.ipc);
  REQUIRE(std::holds_alternative<wire::welcome>(bystander.ask(hello_of_this_process("bystander"))));
  const auto before = one.rss_kib();
  const control_stranger stranger(one.ipc);
  REQUIRE(stranger.introduce());
  const std::string part(60'000, 'x');
  std::string parts;
  for (int n = 0; n < 1'000; ++n) parts += control_stranger::frame(part, wire::zmtp::more);
  std::string_view rest = parts;
  CHECK(wait_until([&] {
    const auto n = ::send(stranger.fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    return stranger.ended() || rest.empty();
  }));
  CHECK(stranger.ended());
  CHECK(one.rss_kib() < before + some_kib);
  CHECK(std::holds_alternative<wire::ack>(bystander.ask(wire::heartbeat{})));
}

TEST_CASE("hostile client: who does not read its answers gets no more of them, and is put out", "[fault][threads]") {
  const attacked one;
  raw_client owner(one.ipc);
  fill(owner);
  const auto before = one.rss_kib();
  const control_stranger stranger(one.ipc);
  REQUIRE(stranger.introduce());
  std::string requests;
  for (int n = 0; n < 4'000; ++n) requests += control_stranger::frame(list_request());
  std::string_view rest = requests;
  std::size_t most = 0;
  CHECK(wait_until([&] {
    const auto n = ::send(stranger.fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    (void)owner.ask(wire::heartbeat{});  // the others are served meanwhile
    most = std::max(most, one.rss_kib());
    return stranger.ended();
  }));
  CHECK(most < before + some_kib);
}

TEST_CASE("hostile client: a participant that does not read its events is put out", "[fault][threads]") {
  const attacked one;
  raw_client owner(one.ipc);
  REQUIRE(std::holds_alternative<wire::welcome>(owner.ask(hello_of_this_process("owner"))));
  const control_stranger deaf(one.ipc);
  REQUIRE(deaf.introduce());
  REQUIRE(deaf.send(wire::encode({1, hello_of_this_process("deaf")})));
  struct moving {
    std::string name;
    wire::id id = wire::id::random();
  };
  std::vector<moving> topics;  // many: one topic moves ten times a second at most
  for (int n = 0; n < 600; ++n) topics.push_back({"t" + std::to_string(n)});
  for (const auto& each : topics) {
    const auto request = wire::encode({2, wire::request_topic{each.name, wire::id::random()}});
    REQUIRE(wait_until([&] { return deaf.send(request); }));
  }
  const auto before = one.rss_kib();
  std::uint16_t port = 1;
  CHECK(wait_until([&] {
    const wire::endpoint moved{wire::transport::tcp,
                               "tcp://127.0.0.1:" + std::to_string(++port)};  // news for the readers
    for (const auto& each : topics)
      (void)owner.ask(wire::register_topic{each.name, each.id, std::vector(8, moved), {}});
    return deaf.ended();
  }));
  if (!under_sanitizer) CHECK(one.rss_kib() < before + 3 * some_kib);  // which keeps what is freed
}

TEST_CASE("hostile client: a flood of requests leaves the others their turns", "[fault][threads]") {
  const attacked one;
  raw_client owner(one.ipc);
  fill(owner);
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    std::list<control_stranger> strangers;
    std::vector<char> read(1 << 20);
    const auto request = control_stranger::frame(list_request());
    for (int n = 0; n < 32; ++n) (void)strangers.emplace_back(one.tcp).introduce();
    while (!stop) {
      for (auto& each : strangers) {
        for (int n = 0; n < 64 && each.write(request); ++n) {
        }
        while (::recv(each.fd(), read.data(), read.size(), MSG_DONTWAIT) > 0) {
        }
      }
    }
  });
  for (int n = 0; n < 20; ++n) {
    CHECK(std::holds_alternative<wire::ack>(owner.ask(wire::heartbeat{})));
    CHECK(one.lets_in(one.ipc));
  }
  stop = true;
  flood.join();
}

TEST_CASE("hostile client: thousands of connections take nobody's place", "[fault][threads]") {
  orc::detail::raise_fd_limit();
  if (!orc::detail::room_for_fds(4'000)) return skip("ulimit -n is too low for an attacker");
  const attacked one;
  raw_client by_ipc(one.ipc, true);
  raw_client by_tcp(one.tcp, true);
  for (auto* each : {&by_ipc, &by_tcp}) {
    REQUIRE(std::holds_alternative<wire::welcome>(each->ask(hello_of_this_process("established"))));
    REQUIRE(each->next_event());  // the greeting
  }
  std::atomic<bool> stop{false};
  std::atomic<int> came{0};
  std::thread attacker([&] {
    std::list<control_stranger> strangers;
    while (!stop) {
      try {
        (void)strangers.emplace_back(one.tcp).introduce();
      } catch (const std::runtime_error&) {  // refused: again
      }
      if (strangers.size() > 3'000) strangers.pop_front();
      ++came;
    }
  });
  CHECK(wait_until([&] { return came > 3'000; }));
  std::int64_t longest = 0;
  for (int n = 0; n < 10; ++n) {
    for (const auto& endpoint : {one.ipc, one.tcp}) {
      const auto start = std::chrono::steady_clock::now();
      CHECK(one.lets_in(endpoint));
      longest = std::max(longest, ms_since(start));
      for (auto* each : {&by_ipc, &by_tcp}) {
        CHECK(std::holds_alternative<wire::ack>(each->ask(wire::heartbeat{})));
        CHECK_FALSE(each->next_event(std::chrono::milliseconds(0)));  // never put out: it was not greeted again
      }
    }
  }
  INFO("longest join: " << longest << " ms");
  CHECK(longest < 10'000);
  stop = true;
  attacker.join();
  CHECK(one.lets_in(one.tcp));
}

TEST_CASE("hostile client: who does not introduce itself is put out, however slowly it goes on", "[fault][threads]") {
  const attacked one;
  const control_stranger silent(one.tcp);
  const control_stranger slow(one.ipc);
  const auto greeting = as_text(wire::zmtp::greeting());
  std::size_t sent = 0;
  CHECK(wait_until([&] {
    if (sent < 60) (void)slow.write(greeting.substr(sent++, 1));
    return silent.ended() && slow.ended();
  }));
  CHECK(one.lets_in(one.tcp));
}

TEST_CASE("hostile client: an old ZeroMQ peer is put out, also while the broker ends", "[fault][threads]") {
  for (int n = 0; n < 4; ++n) {
    attacked one;
    std::list<control_stranger> old;
    for (int m = 0; m < 32; ++m) (void)old.emplace_back(one.tcp).write(std::string("\1\0", 2));  // ZMTP 1: no identity
    one.broker.send_signal(SIGTERM);
    for (auto& each : old) (void)each.write(std::string("\2\0x", 3));
    CHECK(one.broker.wait_for_end() == 0);
  }
}
