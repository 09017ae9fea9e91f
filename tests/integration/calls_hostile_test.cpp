// Services whose other end lies, or sends too much.
#include <random>

#include "call_message.h"
#include "orc/directory.h"
#include "support/broker_process.h"
#include "support/call_peers.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::detail::call_kind;

namespace {

constexpr const char* service_name = "arm/service";
constexpr std::uint64_t liar_id = 0x1234;

// The topics of one end, spoken by hand.
struct liar {
  liar(const broker_process& broker, std::string sends, std::string receives)
      : participant(broker.options("liar")), to(std::move(sends)), from(std::move(receives)) {
    REQUIRE(participant.request_topic(from, {.conflate = 0, .depth = 65'536}));
    REQUIRE(participant.register_topic(to, {.keep_last = false}));
    REQUIRE(participant.publisher(to).wait_readers(1, patience_ms));
  }
  void send(const orc::detail::call_header& header, std::span<const std::byte> payload = {}) {
    send_bytes(orc::detail::encode(header, payload));
  }
  void send_bytes(std::span<const std::byte> bytes) { REQUIRE(participant.send_msg(to, bytes.data(), bytes.size())); }
  // The next message of this kind.
  [[nodiscard]] orc::detail::call_header next(call_kind kind) {
    for (;;) {
      last = participant.recv_msg(from, patience_ms);
      REQUIRE(last);
      const auto read = orc::detail::read_message(last.bytes());
      REQUIRE(read);
      if (read->header.kind == kind) return read->header;
    }
  }

  orc::participant participant;
  std::string to, from;
  orc::message last;
};

// A server, and a client of it that lies.
struct lied_to_server {
  lied_to_server() {
    service = server.serve(service_name, obeying(counts), {.threads = 1, .queue = 8});
    REQUIRE(service.result());
  }
  void greet(liar& client) const {
    (void)client.next(call_kind::welcome);
    client.send({.kind = call_kind::hello, .id = 1}, orc::detail::encode(orc::detail::call_types{}));
    (void)client.next(call_kind::accepted);
  }
  [[nodiscard]] liar make_liar() const {
    return {address_broker, orc::detail::call_topic(service_name, liar_id),
            orc::detail::reply_topic(service_name, liar_id)};
  }
  static orc::detail::call_header request(std::uint64_t id) {
    return {.kind = call_kind::request, .id = id, .remaining_ns = 60'000'000'000, .type = orc::hash_of({})};
  }

  broker_process address_broker;
  call_counts counts;
  orc::participant server{address_broker.options("server")};
  orc::service service;
};

}  // namespace

TEST_CASE("calls: a request that comes twice runs once, and missing ones are reported", "[integration]") {
  lied_to_server side;
  liar client = side.make_liar();
  (void)client.next(call_kind::welcome);                  // the answers reach it now
  client.send(lied_to_server::request(1), bytes_of({}));  // before hello: its type is not accepted
  CHECK(client.next(call_kind::error).id == 1);
  side.greet(client);
  client.send(lied_to_server::request(2), bytes_of({}));
  CHECK(client.next(call_kind::result).id == 2);
  client.send(lied_to_server::request(2), bytes_of({}));
  client.send(lied_to_server::request(1), bytes_of({}));
  client.send(lied_to_server::request(0), bytes_of({}));
  client.send(lied_to_server::request(5), bytes_of({}));
  CHECK(client.next(call_kind::error).id == 3);
  CHECK(orc::detail::read_error(orc::detail::read_message(client.last.bytes())->payload)->code == orc::call_errc::lost);
  CHECK(client.next(call_kind::error).id == 4);
  CHECK(client.next(call_kind::result).id == 5);
  CHECK(side.counts.started == 2);
  CHECK(side.service.figures().dropped == 3);
}

TEST_CASE("calls: a jump of the ids costs the server a bounded number of answers", "[integration]") {
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  client.send(lied_to_server::request(~std::uint64_t{0}), bytes_of({}));
  CHECK(client.next(call_kind::error).id == ~std::uint64_t{0} - orc::max_open_calls);
  CHECK(client.next(call_kind::result).id == ~std::uint64_t{0});
  client.send({.kind = call_kind::open_calls, .id = ~std::uint64_t{0}});
  CHECK(client.next(call_kind::running).id == ~std::uint64_t{0});
}

TEST_CASE("calls: the highest id as the first one ends no server", "[integration]") {
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  client.send({.kind = call_kind::open_calls, .id = ~std::uint64_t{0}});
  CHECK(client.next(call_kind::error).id == ~std::uint64_t{0} - orc::max_open_calls + 1);
  CHECK(client.next(call_kind::running).id == ~std::uint64_t{0});
  CHECK(side.service.figures().refused == orc::max_open_calls);
  orc::participant other(side.address_broker.options("other"));
  CHECK(other.call(service_name, bytes_of({}), ample).get());
}

TEST_CASE("calls: bytes that are no message are counted and dropped", "[integration]") {
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  std::mt19937 random(17);
  const std::size_t messages = rounds(2'000, 100'000);
  for (std::size_t n = 0; n < messages; ++n) {
    std::vector<std::byte> bytes(random() % 64);
    for (auto& each : bytes) each = static_cast<std::byte>(random());
    if (!bytes.empty()) bytes.front() = std::byte{0x7f};  // no kind
    client.send_bytes(bytes);
  }
  for (const auto kind : {call_kind::cancel, call_kind::feedback_taken, call_kind::open_calls})
    client.send({.kind = kind, .id = 99});
  client.send({.kind = call_kind::hello, .id = 2}, bytes_of({}));  // unreadable types
  CHECK(client.next(call_kind::refused).id == 2);
  client.send(lied_to_server::request(100), bytes_of({}));
  CHECK(client.next(call_kind::result).id == 100);
  CHECK(side.service.figures().dropped > 0);
}

TEST_CASE("calls: a flood of calls is busy, and other clients are served", "[integration]") {
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  const std::size_t calls = rounds(20'000, 500'000);
  for (std::uint64_t id = 1; id <= calls; ++id) client.send(lied_to_server::request(id), bytes_of({}));
  orc::participant honest(side.address_broker.options("honest"));
  CHECK(wait_until([&] { return static_cast<bool>(honest.call(service_name, bytes_of({}), 1s).get()); }));
  // The last of them comes twice: the server drops the second one when it is through.
  CHECK(wait_until([&] {
    client.send(lied_to_server::request(calls), bytes_of({}));
    const auto figures = side.service.figures();
    return figures.dropped > 0 && figures.waiting == 0;
  }));
  CHECK(side.service.figures().refused > 0);
  CHECK(side.service.figures().calls <= calls + 1);
}

TEST_CASE("calls: replies that were not asked for change nothing", "[integration]") {
  broker_process address_broker;
  orc::participant client(address_broker.options("client"));
  auto call = client.call(service_name, bytes_of({.number = 7}), ample);
  orc::directory directory({.broker = address_broker.endpoint()});
  std::vector<orc::topic_state> found;
  REQUIRE(
      wait_until([&] { return directory.topics(std::string(service_name) + "/.call/*", found) && found.size() == 1; }));
  const auto id = orc::detail::client_of(found.front().name, service_name);
  REQUIRE(id);
  liar server(address_broker, orc::detail::reply_topic(service_name, *id), orc::detail::call_topic(service_name, *id));
  const auto result = [&](std::uint64_t number, std::uint64_t value) {
    server.send({.kind = call_kind::result, .id = number}, to_bytes(value));
  };
  result(1, 666);  // before any welcome
  server.send({.kind = call_kind::accepted, .id = 1});
  server.send({.kind = call_kind::welcome, .id = 5});
  const auto hello = server.next(call_kind::hello);
  server.send({.kind = call_kind::accepted, .id = hello.id});
  server.send({.kind = call_kind::accepted, .id = hello.id});
  REQUIRE(server.next(call_kind::request).id == 1);
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    result(wrong, 666);
    server.send({.kind = call_kind::feedback, .id = wrong});
  }
  server.send_bytes(to_bytes(std::uint64_t{1}));
  server.send({.kind = call_kind::running, .id = 0}, bytes_of({}));
  server.send({.kind = call_kind::request, .id = 1});
  CHECK_FALSE(call.wait(10ms));
  result(1, 42);
  result(1, 666);
  const auto got = call.get();
  REQUIRE(got);
  CHECK(from_bytes<std::uint64_t>(*got) == 42);
}
