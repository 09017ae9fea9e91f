// contract.md 6: bad bytes are counted and dropped. Peers on the data plane that do not behave: garbage to a
// publication's endpoint, and publications that are none.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <climits>
#include <map>
#include <random>
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/fake_publication.h"
#include "support/payload.h"
#include "support/proc_stats.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/link_message.h"
#include "wire/sample_header.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

std::string random_text(std::minstd_rand& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// A plain socket to where a libzmq socket listens.
int plain_connection(const std::string& endpoint) {
  int fd = -1;
  if (endpoint.starts_with("ipc://")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = endpoint.substr(6);
    std::memcpy(address.sun_path, path.data(), path.size());
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return ::close(fd), -1;
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return ::close(fd), -1;
  }
  return fd;
}

void write_plain(int fd, const std::string& text) {
  static_cast<void>(::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

struct fake_stream {
  broker_process address_broker;
  fake_publication fake{address_broker, "t"};
  orc::participant receiver{address_broker.options("receiver")};
  orc::subscriber subscriber;

  explicit fake_stream(orc::request_options options = {}) {
    options.transports = {orc::transport::ipc};
    if (!receiver.request_topic("t", options).result()) throw std::runtime_error("request_topic");
    subscriber = receiver.subscriber("t");
  }
  [[nodiscard]] std::uint64_t malformed() {
    raw_client client(address_broker.endpoint());
    const auto state = described(client, "t");
    for (const auto& entry : state.subscriptions) {
      if (entry.counters) return entry.counters->malformed;
    }
    return 0;
  }
  [[nodiscard]] orc::message next() { return subscriber.recv(patience_ms); }
};

}  // namespace

TEST_CASE("bad input: garbage sent to a publication does not disturb its stream", "[fault][threads]") {
  std::minstd_rand random(17);
  for (const auto kind : {wire::transport::ipc, wire::transport::tcp}) {
    INFO(wire::name_of(kind));
    broker_process address_broker;
    orc::participant sender(address_broker.options("sender"));
    orc::participant receiver(address_broker.options("receiver"));
    const orc::transport_set only{static_cast<orc::transport>(kind)};
    REQUIRE(sender.register_topic("t", {.transports = only}).result());
    REQUIRE(receiver.request_topic("t", {.connected_within = patience, .transports = only}).result());
    auto publisher = sender.publisher("t");
    auto subscriber = receiver.subscriber("t");
    const std::string endpoint = address_of(address_broker.endpoint(), "t", kind);
    std::uint64_t value = 0;
    const auto stream_is_well = [&] {
      for (int n = 0; n < 20; ++n) {
        REQUIRE(send_value(publisher, ++value));
        for (;;) {
          const auto got = subscriber.recv(patience_ms);
          REQUIRE(got);
          REQUIRE(value_of(got) <= value);
          if (value_of(got) == value) break;
        }
      }
    };
    stream_is_well();

    raw_client client(address_broker.endpoint());
    const wire::id publication = described(client, "t").publication->publication;
    {
      raw_socket dealer(ZMQ_DEALER);
      dealer.connect(endpoint);
      std::vector<std::string> frames{"",
                                      "x",
                                      std::string(15, '\0'),
                                      std::string(16, '\0'),
                                      std::string(71, '\xff'),
                                      std::string(72, '\0'),
                                      std::string(73, '\0'),
                                      sample_frame(1, 1, "a sample towards the publisher"),
                                      link_frame(wire::link_kind::hello, wire::id::random(), wire::id::random()),
                                      link_frame(wire::link_kind::hello, publication, {}),
                                      link_frame(wire::link_kind::welcome, publication, wire::id::random()),
                                      link_frame(wire::link_kind::goodbye, publication, wire::id::random()),
                                      link_frame(wire::link_kind::goodbye, wire::id::random(), {}),
                                      link_frame(wire::link_kind::refused, publication, wire::id::random())};
      std::string odd = link_frame(wire::link_kind::hello, publication, wire::id::random());
      odd[20] = 99;  // kind
      frames.push_back(odd);
      odd = link_frame(wire::link_kind::hello, publication, wire::id::random());
      odd[21] = 2;  // version
      frames.push_back(odd);
      for (int n = 0; n < 50; ++n) frames.push_back(random_text(random, random() % 200));
      for (const auto& frame : frames) REQUIRE(wait_until([&] { return dealer.send({frame}); }));
      stream_is_well();
      const std::string hello = link_frame(wire::link_kind::hello, publication, wire::id::random());
      REQUIRE(wait_until([&] { return dealer.send({hello, hello}); }));
      REQUIRE(wait_until([&] { return dealer.send({"", hello}); }));
      REQUIRE(wait_until([&] { return dealer.send({"a", "b", "c", "d"}); }));
      stream_is_well();
      REQUIRE(wait_until([&] { return dealer.send({std::string(100'000, 'x')}); }));  // more than a publication reads
      stream_is_well();
    }
    {
      // Greedy: says hello for ten thousand subscriptions, each with the deepest queue, and reads nothing.
      raw_socket dealer(ZMQ_DEALER);
      dealer.set(ZMQ_RCVHWM, 1);
      dealer.connect(endpoint);
      const proc_stats before = stats_of();
      for (std::size_t n = 0; n < rounds(10'000, 100'000); ++n) {
        const std::uint32_t depth = n % 2 == 0 ? UINT32_MAX : 0;
        const auto hello = link_frame(wire::link_kind::hello, publication, wire::id::random(), depth);
        // It is cut off; libzmq, which reads nothing here, does not notice.
        if (!wait_until([&] { return dealer.send({hello}); }, std::chrono::milliseconds(100))) break;
      }
      for (int n = 0; n < 10; ++n) stream_is_well();
      if (!under_sanitizer) CHECK(stats_of().rss_kib < before.rss_kib + 200 * 1024);
    }
    {
      // No libzmq at all: half a greeting, noise, nothing.
      std::vector<int> open;
      for (int n = 0; n < 60; ++n) {
        const int fd = plain_connection(endpoint);
        if (fd < 0) continue;
        if (n % 3 == 0) write_plain(fd, random_text(random, 1 + random() % 4000));
        if (n % 3 == 1) write_plain(fd, std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11).substr(0, 1 + random() % 11));
        open.push_back(fd);
      }
      stream_is_well();
      for (const int fd : open) ::close(fd);
      stream_is_well();
    }
    // The topic is still open to those who behave.
    orc::participant late(address_broker.options("late"));
    REQUIRE(late.request_topic("t", {.connected_within = patience, .transports = only}).result());
    CHECK(value_of(late.recv_msg("t", patience_ms)) == value);
  }
}

TEST_CASE("bad input: a publication that sends garbage is counted, never delivered, and its good samples arrive",
          "[fault][threads]") {
  std::minstd_rand random(19);
  fake_stream s;
  const auto hello = s.fake.await_hello();
  REQUIRE(hello);
  CHECK(hello->kind == wire::link_kind::hello);
  CHECK(hello->publication == s.fake.id);
  CHECK(hello->depth == 0);
  // A sample before the welcome belongs to nobody.
  s.fake.say(sample_frame(1, 1, "too early"));
  CHECK(!s.subscriber.connected());
  s.fake.say(link_frame(wire::link_kind::welcome, s.fake.id, wire::id::random()));  // meant for another one
  s.fake.say(link_frame(wire::link_kind::welcome, s.fake.id, hello->subscription));
  CHECK(s.subscriber.wait_connected(patience_ms));
  s.fake.say(sample_frame(1, 1, "first"));
  auto got = s.next();
  REQUIRE(got);
  CHECK(as_text(got.bytes()) == "first");

  std::uint64_t bad = 0;
  std::uint64_t sequence = 1;
  // With much more of it the link would be cut off.
  for (std::size_t round = 0; round < 8; ++round) {
    for (std::size_t size = 0; size < wire::sample_header::bytes; ++size, ++bad) {
      s.fake.say(random_text(random, size));
    }
    s.fake.say(sample_frame(sequence + 5, 1, "part one"), "part two");
    s.fake.say(sample_frame(0, 1, random_text(random, random() % 100)));
    s.fake.say(std::string(72, '\0'));
    std::string odd = link_frame(wire::link_kind::welcome, s.fake.id, hello->subscription);
    odd[16] = 'X';  // the magic
    s.fake.say(odd);
    bad += 4;
    s.fake.say(sample_frame(++sequence, 1, "good"));
    got = s.next();
    INFO("round " << round << ": " << orc::describe(got.status()) << ", connected " << s.subscriber.connected() << ", "
                  << s.subscriber.link().reason);
    REQUIRE(got);
    REQUIRE(got.sequence() == sequence);
    REQUIRE(as_text(got.bytes()) == "good");
  }
  CHECK(s.subscriber.connected());
  // Told with the next heartbeat.
  CHECK(wait_until([&] {
    s.fake.stay_alive();
    return s.malformed() >= bad;
  }));
}

TEST_CASE("bad input: sequence numbers that repeat or fall never make a receive go back", "[fault][threads]") {
  for (const int conflate : {1, 0}) {
    INFO("conflate " << conflate);
    fake_stream s({.conflate = conflate});
    REQUIRE(s.fake.welcome());
    CHECK(s.subscriber.wait_connected(patience_ms));
    s.fake.say(sample_frame(10, 1, "ten"));
    auto got = s.next();
    REQUIRE(got);
    CHECK(got.sequence() == 10);
    s.fake.say(sample_frame(10, 1, "ten again"));
    s.fake.say(sample_frame(9, 1, "nine"));
    s.fake.say(sample_frame(1, 1, "one"));
    s.fake.say(sample_frame(13, 1, "thirteen"));
    got = s.next();
    REQUIRE(got);
    CHECK(got.sequence() == 13);
    CHECK(got.missed() == 2);
    s.fake.say(sample_frame(UINT64_MAX, 1, "the last there is"));
    got = s.next();
    REQUIRE(got);
    CHECK(got.sequence() == UINT64_MAX);
    CHECK(got.missed() == UINT64_MAX - 14);
  }
}

TEST_CASE("clock step: stamps from any time change nothing but the age, and time limits keep their length",
          "[fault][threads]") {
  fake_stream s;
  REQUIRE(s.fake.welcome());
  CHECK(s.subscriber.wait_connected(patience_ms));
  std::uint64_t sequence = 0;
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  constexpr std::int64_t hour = 3'600'000'000'000;
  for (const std::int64_t stamp : {now, now - hour, now + hour, now - 2 * hour, std::int64_t{0}, std::int64_t{-1},
                                   std::int64_t{INT64_MAX}, std::int64_t{INT64_MIN}, now}) {
    s.fake.say(sample_frame(++sequence, stamp, "x"));
    const auto got = s.next();
    REQUIRE(got);
    CHECK(got.sequence() == sequence);
    CHECK(got.stamp_ns() == stamp);
    const std::int64_t age = got.age_ns();
    if (stamp == now + hour) CHECK(age < 0);
    if (stamp == now - hour) CHECK(age >= hour);
    const auto start = std::chrono::steady_clock::now();
    CHECK(s.subscriber.recv(20).status() == orc::errc::timed_out);
    CHECK(ms_since(start) >= 19);
  }
  CHECK(wait_until([&] {
    s.fake.stay_alive();
    return s.malformed() == 0;
  }));
}

TEST_CASE("bad input: whoever answers in place of the publication is not listened to", "[fault][threads]") {
  fake_stream s;
  const auto hello = s.fake.await_hello();
  REQUIRE(hello);
  // Another publication took over the address.
  const wire::id stranger = wire::id::random();
  s.fake.say(link_frame(wire::link_kind::refused, stranger, hello->subscription));
  s.fake.say(link_frame(wire::link_kind::welcome, stranger, hello->subscription));
  s.fake.say(sample_frame(1, 1, "from a stranger"));
  CHECK(!s.subscriber.recv(200));
  CHECK(!s.subscriber.connected());
  // When the broker tells of the new publication, the link comes up.
  s.fake.announce(stranger);
  REQUIRE(s.fake.welcome());
  CHECK(s.subscriber.wait_connected(patience_ms));
  s.fake.say(sample_frame(1, 1, "known by now"));
  const auto got = s.next();
  REQUIRE(got);
  CHECK(as_text(got.bytes()) == "known by now");
}

TEST_CASE("bad input: an endpoint that leads nowhere leaves the subscriber waiting and well", "[fault][threads]") {
  broker_process address_broker;
  raw_client client(address_broker.endpoint());
  client.ask(hello_of_this_process("liar"));
  int n = 0;
  orc::participant receiver(address_broker.options());
  const auto publication = wire::id::random();
  const auto path =
      address_broker.directory().file(std::to_string(::geteuid())) + "/" + publication.hex().substr(0, 16);
  // The others are refused by the broker.
  for (const auto& lie :
       std::vector<wire::endpoint>{{wire::transport::ipc, "ipc://" + path},
                                   {wire::transport::shm, "shm://" + path + ".shm"},
                                   {wire::transport::tcp, "tcp://127.0.0.1:1"},
                                   {wire::transport::inproc, "inproc://" + publication.hex()},
                                   {wire::transport::multicast, "udpm://239.1.2.3:1?nonsense=1"},
                                   {wire::transport::multicast, "udpm://[ff15::7]:1?from=[::1]:5"},
                                   {wire::transport::multicast, "udpm://[ff02::7]:1?ttl=1&from=[::1]:5&source=6"}}) {
    const std::string topic = "lie/" + std::to_string(n++);
    INFO(lie.address);
    auto id = publication;
    id.lo += static_cast<std::uint64_t>(n);
    if (lie.transport == wire::transport::inproc) id = publication;
    const auto answer = client.ask(wire::register_topic{topic, id, {lie}, std::nullopt});
    REQUIRE(std::holds_alternative<wire::topic_state>(answer));
    REQUIRE(receiver.request_topic(topic).result());
    CHECK(receiver.recv_msg(topic, 1).status() == orc::errc::timed_out);
    CHECK(!receiver.subscriber(topic).connected());
    CHECK(wait_until([&] { return !receiver.subscriber(topic).link().reason.empty(); }));
  }
  orc::participant sender(address_broker.options());
  REQUIRE(sender.register_topic("truth").result());
  REQUIRE(receiver.request_topic("truth", {.connected_within = patience}).result());
  REQUIRE(sender.send_msg("truth", "x", 1));
  CHECK(receiver.recv_msg("truth", patience_ms));
}

TEST_CASE("bad input: a broker that talks garbage is no broker, and does not stop a stream", "[fault][threads]") {
  std::minstd_rand random(23);
  const orc::detail::temporary_directory directory;
  const std::string endpoint = "ipc://" + directory.file("broker");
  raw_socket false_broker(ZMQ_ROUTER);
  false_broker.bind(endpoint);
  orc::participant_options options;
  options.broker = endpoint;
  options.broker_timeout = std::chrono::milliseconds(20);
  orc::participant both(options);
  std::map<std::string, int> peers;
  for (std::size_t n = 0; n < rounds(200, 3000); ++n) {
    if (n % 20 == 0) {
      CHECK(both.register_topic("t").result().code() == orc::errc::no_broker);
      CHECK(both.request_topic("t").result().code() == orc::errc::no_broker);
    }
    while (const auto frames = false_broker.receive(std::chrono::milliseconds(1))) ++peers[frames->front()];
    for (const auto& [peer, messages] : peers) {
      switch (random() % 6) {
        case 0: false_broker.send({peer, ""}); break;
        case 1: false_broker.send({peer, random_text(random, random() % 500)}); break;
        case 2: false_broker.send({peer, "two", "frames"}); break;
        case 3: {
          std::string text = wire::encode({random() % 10, wire::ack{}});
          text[random() % text.size()] ^= static_cast<char>(1 + random() % 255);
          false_broker.send({peer, text});
          break;
        }
        case 4: {
          wire::topic_state state;
          state.topic = "t";
          false_broker.send({peer, wire::encode({0, state})});  // pushed, without a welcome
          break;
        }
        default: false_broker.send({peer, random_text(random, 70'000)});
      }
    }
  }
  CHECK(!peers.empty());
  CHECK(both.send_msg("t", "x", 1));
  CHECK(both.broker_endpoint().empty());
}
