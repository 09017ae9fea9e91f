// Services whose other end lies, or sends too much.
#include <atomic>
#include <random>
#include <thread>

#include "orc/directory.h"
#include "support/call_liar.h"
#include "support/call_peer.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::detail::call_kind;

namespace {

// The id of a client, other than that one.
[[nodiscard]] std::uint64_t next_client(const broker_process& broker, std::uint64_t other = 0) {
  orc::directory directory({.broker = broker.endpoint()});
  std::uint64_t id = other;
  REQUIRE(wait_until([&] {
    std::vector<orc::topic_state> found;
    if (!directory.topics(std::string(service_name) + "/.call/*", found)) return false;
    for (const auto& each : found) {
      if (each.publication) id = orc::detail::client_of(each.name, service_name).value_or(other);
    }
    return id != other;
  }));
  return id;
}

}  // namespace

TEST_CASE("calls: a request that comes twice runs once, and missing ones are reported", "[integration][threads]") {
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
  CHECK(client.next(call_kind::running).id == 4);
  CHECK(client.last.size() == orc::detail::call_header_size);  // neither 3 nor 4 is open
  CHECK(client.next(call_kind::result).id == 5);
  CHECK(side.counts.started == 2);
  CHECK(side.service.figures().dropped == 3);
}

TEST_CASE("calls: a jump of the ids costs the server one answer", "[integration][threads]") {
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  client.send(lied_to_server::request(last_id), bytes_of({}));
  CHECK(client.next(call_kind::running).id == last_id - 1);
  CHECK(client.next_of_any() == call_kind::result);
  client.send({.kind = call_kind::open_calls, .id = last_id});
  CHECK(client.next_of_any() == call_kind::running);
  CHECK(side.service.figures().refused == orc::max_open_calls);
}

TEST_CASE("calls: the highest id, sent first, is dropped", "[integration][threads]") {
  const auto kind = GENERATE(call_kind::open_calls, call_kind::request);
  lied_to_server side;
  liar client = side.make_liar();
  side.greet(client);
  auto header = lied_to_server::request(~std::uint64_t{0});
  header.kind = kind;
  client.send(header, bytes_of({}));
  client.send(lied_to_server::request(1), bytes_of({}));
  CHECK(client.next_of_any() == call_kind::result);
  CHECK(side.service.figures().dropped == 1);
}

TEST_CASE("calls: bytes that are no message are counted and dropped", "[integration][threads]") {
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

TEST_CASE("calls: a flood of calls is busy, and other clients are served", "[integration][threads]") {
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

TEST_CASE("calls: replies that were not asked for change nothing", "[integration][threads]") {
  broker_process address_broker;
  orc::participant client(address_broker.options("client"));
  auto call = client.call(service_name, bytes_of({.number = 7}), ample);
  const auto id = next_client(address_broker);
  liar server(address_broker, orc::detail::reply_topic(service_name, id), orc::detail::call_topic(service_name, id));
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

TEST_CASE("calls: a server of another version is named as the reason", "[integration][threads]") {
  broker_process address_broker;
  orc::participant client(address_broker.options("client"));
  auto held = client.call(service_name, bytes_of({}), ample);  // keeps the connection
  const auto id = next_client(address_broker);
  liar server(address_broker, orc::detail::reply_topic(service_name, id), orc::detail::call_topic(service_name, id));
  auto welcome = orc::detail::encode({.kind = call_kind::welcome, .id = 5});
  welcome[1] = std::byte{2};
  server.send_bytes(welcome);
  CHECK(wait_until([&] {
    const auto ended = client.call(service_name, bytes_of({}), 100ms).get();
    REQUIRE(ended.code() == orc::call_errc::no_service);
    return ended.error().text.find("speaks version 2 of calls") != std::string::npos;
  }));
  held.cancel();
}

TEST_CASE("calls: a program that answers in the place of the server gets no request", "[integration][threads]") {
  broker_process address_broker;
  child_process client = start_call_peer("hold", address_broker, service_name, "ipc");
  const auto id = next_client(address_broker);
  client.freeze();  // it sees the impostor when the service is another one's
  liar impostor(address_broker, orc::detail::reply_topic(service_name, id), orc::detail::call_topic(service_name, id),
                liar::unheard{});
  REQUIRE(impostor.participant.unregister_topic(service_name));
  orc::participant owner(address_broker.options("owner"));
  REQUIRE(owner.register_topic(service_name).result());
  client.thaw();
  REQUIRE(impostor.participant.publisher(impostor.to).wait_readers(1, patience_ms));
  impostor.send({.kind = call_kind::welcome, .id = 5});
  impostor.send({.kind = call_kind::accepted, .id = 1});
  impostor.send({.kind = call_kind::result, .id = 1}, to_bytes(std::uint64_t{666}));
  CHECK(next_client(address_broker, id) != id);  // it turns away
  orc::message got;
  while ((got = impostor.participant.recv_msg(impostor.from, 0)))
    CHECK(orc::detail::read_message(got.bytes())->header.kind == call_kind::bye);
  REQUIRE(owner.unregister_topic(service_name));
  call_counts counts;
  const auto service = owner.serve(service_name, obeying(counts));
  CHECK(wait_until([&] { return counts.started == 1; }));
}

TEST_CASE("calls: a program that wants the reply topics of all new clients gets none", "[integration][threads]") {
  const broker_process address_broker;
  call_counts counts;
  orc::participant server(address_broker.options("server"));
  const auto service = server.serve(service_name, obeying(counts));
  REQUIRE(service.result());
  orc::participant thief(address_broker.options("thief"));
  std::atomic<bool> ends{false};
  std::atomic<int> tried{0};
  std::atomic<int> taken{0};
  std::thread steals([&] {
    auto clients = orc::directory({.broker = address_broker.endpoint()})
                       .watch({.topics = {std::string(service_name) + "/.call/*"}});
    for (orc::directory_change change; !ends;) {
      if (!clients.next_change(change, 10) || !change.topic.publication) continue;
      const auto id = orc::detail::client_of(change.topic.name, service_name);
      if (!id) continue;
      taken += thief.register_topic(orc::detail::reply_topic(service_name, *id)).result() ? 1 : 0;
      ++tried;
    }
  });
  for (std::uint64_t n = 0; n < 8; ++n) {
    orc::participant client(address_broker.options("client"));
    const auto got = client.call(service_name, bytes_of({.number = n}), ample).get();
    CHECK(got);
    CHECK(wait_until([&] { return tried > static_cast<int>(n); }));
  }
  ends = true;
  steals.join();
  CHECK(taken == 0);
}
