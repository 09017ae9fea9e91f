// PROTOCOL.md, "Samples": an ipc or tcp link has ZeroMQ sockets at its ends. liborc speaks ZMTP itself; here the other
// end is libzmq.
#include <zmq.h>

#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/payload.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/link_message.h"
#include "wire/sample_header.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// Around what ZMTP and either end treat differently: 1-byte and 8-byte lengths, one read, more than a socket holds.
constexpr std::size_t sizes[] = {0, 1, 200, 238, 239, 240, 241, 5000, 8192, 100'000, 3'000'000};

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + size);
  return text;
}

}  // namespace

TEST_CASE("zeromq peer: a libzmq DEALER subscribes to a publication, and reads every sample",
          "[integration][threads]") {
  for (const auto kind : {wire::transport::ipc, wire::transport::tcp}) {
    INFO(wire::name_of(kind));
    broker_process address_broker;
    orc::participant sender(address_broker.options());
    REQUIRE(sender.register_topic("t", {.transports = {static_cast<orc::transport>(kind)}}));
    raw_client client(address_broker.endpoint());
    const wire::id publication = described(client, "t").publication->publication;
    raw_socket dealer(ZMQ_DEALER);
    dealer.set(ZMQ_HEARTBEAT_IVL, 50);  // ZMTP's own PING: answered, or libzmq drops the connection
    dealer.set(ZMQ_HEARTBEAT_TIMEOUT, 2000);
    dealer.connect(address_of(address_broker.endpoint(), "t", kind));
    const wire::id self = wire::id::random();
    REQUIRE(dealer.send({link_frame(wire::link_kind::hello, publication, self)}));
    const auto welcome = dealer.receive();
    REQUIRE(welcome);
    CHECK(wire::decode_link_message(std::as_bytes(std::span(welcome->front())))->kind == wire::link_kind::welcome);
    CHECK(sender.publisher("t").readers() == 1);
    std::uint64_t sequence = 0;
    for (const std::size_t size : sizes) {
      const std::string sent = pattern(size);
      REQUIRE(sender.send_msg("t", sent.data(), sent.size()));
      ++sequence;
      const auto got = dealer.receive();
      REQUIRE(got);
      REQUIRE(got->size() == 1);
      CHECK(wire::get(std::as_bytes(std::span(got->front())).data()).sequence == sequence);
      CHECK(got->front().substr(wire::sample_header::bytes) == sent);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // some PINGs
    CHECK(sender.publisher("t").readers() == 1);
    REQUIRE(dealer.send({link_frame(wire::link_kind::goodbye, publication, self)}));
    CHECK(wait_until([&] { return sender.publisher("t").readers() == 0; }));
  }
}

TEST_CASE("zeromq peer: a libzmq ROUTER publishes, and a subscription reads every sample", "[integration][threads]") {
  broker_process address_broker;
  fake_publication fake(address_broker, "t");
  orc::participant receiver(address_broker.options());
  REQUIRE(receiver.request_topic("t", {.transports = {orc::transport::ipc}}).result());
  REQUIRE(fake.welcome());
  std::uint64_t sequence = 0;
  for (const std::size_t size : sizes) {
    const std::string sent = pattern(size);
    REQUIRE(fake.say(sample_frame(++sequence, 1, sent)));
    const auto got = receiver.recv_msg("t", patience_ms);
    REQUIRE(got);
    CHECK(got.sequence() == sequence);
    CHECK(as_text(got.bytes()) == sent);
  }
}

TEST_CASE("link: when the connection breaks and the publication lives, it is joined again and nothing newer is lost",
          "[integration][threads]") {
  for (const int conflate : {1, 0}) {
    INFO("conflate " << conflate);
    broker_process address_broker;
    fake_publication fake(address_broker, "t");
    orc::participant receiver(address_broker.options());
    REQUIRE(receiver.request_topic("t", {.conflate = conflate, .transports = {orc::transport::ipc}}).result());
    auto subscriber = receiver.subscriber("t");
    REQUIRE(fake.welcome());
    const wire::id self = fake.subscription;
    std::uint64_t sequence = 0;
    for (int round = 0; round < 5; ++round) {
      REQUIRE(fake.say(sample_frame(++sequence, 1, "x")));
      REQUIRE(subscriber.recv(patience_ms).sequence() == sequence);
      fake.hang_up();
      const auto hello = fake.await_hello();
      REQUIRE(hello);
      CHECK(hello->subscription == self);
      CHECK(hello->last_sequence == sequence);
      REQUIRE(fake.say(link_frame(wire::link_kind::welcome, fake.id, self)));
      REQUIRE(fake.say(sample_frame(sequence, 1, "repeated")));
    }
    REQUIRE(fake.say(sample_frame(++sequence, 1, "last")));
    const auto got = subscriber.recv(patience_ms);
    CHECK(got.sequence() == sequence);
    CHECK(got.missed() == 0);
  }
}
