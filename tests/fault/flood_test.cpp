// contract.md 2 and 6: peers that send well-formed bytes without end, or come back without end, are cut off and cost
// nobody else anything.
#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <thread>

#include "base/files/unique_fd.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/payload.h"
#include "support/wait_until.h"
#include "wire/zmtp.h"

using namespace orc::test;
namespace wire = orc::wire;
namespace zmtp = orc::wire::zmtp;

namespace {

orc::detail::unique_fd connected_to(const std::string& endpoint) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = endpoint.substr(std::string("ipc://").size());
  std::memcpy(address.sun_path, path.data(), path.size());
  orc::detail::unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

[[nodiscard]] orc::result send_to(orc::publisher publisher, std::uint64_t value) {
  return publisher.send(&value, sizeof value);
}

std::string introduction() { return as_text(zmtp::greeting()) + zmtp::ready_frame("DEALER"); }

}  // namespace

TEST_CASE("flood: a stranger who sends frames, parts or commands without end is cut off, and the stream goes on",
          "[fault][threads]") {
  const std::string ping("\4\7\4PING\0\0", 9);
  for (const std::string& piece : {std::string("\0\0", 2), std::string("\1\0", 2), ping}) {
    broker_process address_broker;
    orc::participant sender(address_broker.options());
    orc::participant receiver(address_broker.options());
    REQUIRE(sender.register_topic("t", {.transports = {orc::transport::ipc}}).result());
    REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
    const auto stranger = connected_to(address_of(address_broker.endpoint(), "t", wire::transport::ipc));
    std::string bytes;
    while (bytes.size() < 1'000'000) bytes += piece;
    REQUIRE(::send(stranger.get(), introduction().data(), introduction().size(), MSG_NOSIGNAL) > 0);
    bool cut_off = false;
    for (int n = 0; n < 1000 && !cut_off; ++n)
      cut_off = ::send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0;
    CHECK(cut_off);
    for (std::uint64_t value = 1; value <= 100; ++value) {
      REQUIRE(send_to(sender.publisher("t"), value));
      REQUIRE(value_of(receiver.recv_msg("t", patience_ms)) == value);
    }
  }
}

TEST_CASE("flood: many who join at once do not keep the publisher from sending", "[fault][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  REQUIRE(sender.register_topic("t", {.transports = {orc::transport::ipc}}).result());
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  const std::string endpoint = address_of(address_broker.endpoint(), "t", wire::transport::ipc);
  std::vector<orc::detail::unique_fd> crowd;
  for (int n = 0; n < 300; ++n) crowd.push_back(connected_to(endpoint));
  for (std::uint64_t value = 1; value <= 1000; ++value) {
    REQUIRE(send_to(sender.publisher("t"), value));
    REQUIRE(value_of(receiver.recv_msg("t", patience_ms)) == value);
  }
  // Who says nothing is sent away after a while.
  char byte = 0;
  const auto silent_end = [&] { return ::recv(crowd.back().get(), &byte, 1, MSG_DONTWAIT) == 0; };
  while (::recv(crowd.back().get(), &byte, 1, MSG_DONTWAIT) > 0) {
  }
  CHECK(wait_until(silent_end));
}

TEST_CASE("regression: a publication that welcomes and hangs up at once is not joined again without a pause",
          "[fault][threads]") {
  broker_process address_broker;
  fake_publication fake(address_broker, "t");
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  int joins = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) {
    if (!fake.await_hello(std::chrono::milliseconds(500))) continue;
    ++joins;
    fake.say(link_frame(wire::link_kind::welcome, fake.id, fake.subscription));
    fake.hang_up();
  }
  CHECK(joins >= 2);
  CHECK(joins <= 10);
}

TEST_CASE("regression: in order, what an older publication sent and nobody saw is counted", "[fault][threads]") {
  broker_process address_broker;
  orc::participant receiver(address_broker.options("receiver"));
  auto sender = std::make_unique<orc::participant>(address_broker.options("sender"));
  REQUIRE(sender->register_topic("t").result());
  REQUIRE(receiver.request_topic("t", {.conflate = 0, .depth = 4, .connected_within = patience}).result());
  auto subscriber = receiver.subscriber("t");
  // The reader is away: of ten samples the queue keeps 7 to 10.
  for (std::uint64_t value = 1; value <= 10; ++value) REQUIRE(send_to(sender->publisher("t"), value));
  raw_client client(address_broker.endpoint());
  sender.reset();
  sender = std::make_unique<orc::participant>(address_broker.options("sender again"));
  REQUIRE(wait_until([&] { return static_cast<bool>(sender->register_topic("t").result()); }));
  REQUIRE(wait_until([&] { return sender->publisher("t").readers() == 1; }));
  std::uint64_t seen = 0;
  std::uint64_t missed = 0;
  while (seen + missed < 10) {
    const auto got = subscriber.recv(patience_ms);
    REQUIRE(got);
    ++seen;
    missed += got.missed();
  }
  CHECK(seen == 4);
  CHECK(missed == 6);
  // And when new ones push the rest of the old ones out.
  for (std::uint64_t value = 1; value <= 10; ++value) REQUIRE(send_to(sender->publisher("t"), value));
  sender.reset();
  sender = std::make_unique<orc::participant>(address_broker.options("sender once more"));
  REQUIRE(wait_until([&] { return static_cast<bool>(sender->register_topic("t").result()); }));
  REQUIRE(wait_until([&] { return sender->publisher("t").readers() == 1; }));
  for (std::uint64_t value = 1; value <= 6; ++value) REQUIRE(send_to(sender->publisher("t"), value));
  seen = missed = 0;
  while (seen + missed < 16) {
    const auto got = subscriber.recv(patience_ms);
    REQUIRE(got);
    ++seen;
    missed += got.missed();
  }
  CHECK(seen + missed == 16);
  CHECK(subscriber.recv(0).status() == orc::errc::nothing_new);
}

TEST_CASE("regression: a host name to advertise that nobody knows is said at once", "[fault][threads]") {
  broker_process address_broker;
  auto options = address_broker.options();
  options.advertise = "no.such.host.invalid";
  orc::participant unknown(options);
  const auto registered = unknown.register_topic("t").result();
  CHECK(registered.code() == orc::errc::bad_argument);
  CHECK(registered.error().message().find("no.such.host.invalid") != std::string::npos);
}
