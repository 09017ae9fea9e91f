// Bad input: after each kind of it the broker still answers, and says that it refused or counts what it dropped.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <iterator>
#include <random>

#include "broker/address_broker.h"
#include "support/catch.h"
#include "support/private_endpoint.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc;
using test::hello_of_this_process;
using test::private_endpoint;
using test::raw_client;
using test::wait_until;

namespace {

struct fixture {
  fixture() {
    address_broker_options options;
    options.listen = {place.endpoint(), "tcp://127.0.0.1:*"};
    auto started = address_broker::start(std::move(options));
    if (!started) FAIL(started.error().message());
    broker = *std::move(started);
  }
  std::uint64_t rejected() {
    raw_client tool(place.endpoint());
    auto answer = tool.ask(wire::list_topics{});  // also proves that the broker lives
    REQUIRE(std::holds_alternative<wire::topic_list>(answer));
    return std::get<wire::topic_list>(answer).rejected;
  }
  wire::error refusal(const std::string& frame) {
    raw_client client(place.endpoint());
    client.send_frames({frame});
    auto answer = client.receive();
    REQUIRE(answer);
    REQUIRE(std::holds_alternative<wire::error>(answer->content));
    return std::get<wire::error>(answer->content);
  }
  private_endpoint place;
  std::unique_ptr<address_broker> broker;
};

class tcp_connection {
 public:
  explicit tcp_connection(const std::string& endpoint) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    std::uint16_t port = 0;
    const auto colon = endpoint.rfind(':') + 1;
    std::from_chars(endpoint.data() + colon, endpoint.data() + endpoint.size(), port);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  tcp_connection(const tcp_connection&) = delete;
  tcp_connection& operator=(const tcp_connection&) = delete;
  ~tcp_connection() { close(fd_); }
  void write(const std::string& bytes) {
    CHECK(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  std::string read(std::size_t size) {
    std::string bytes(size, '\0');
    REQUIRE(recv(fd_, bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size));
    return bytes;
  }
  // The broker puts us out.
  void wait_for_end() {
    char byte = 0;
    for (pollfd item{fd_, POLLIN, 0}; poll(&item, 1, 20'000) == 1;) {
      if (recv(fd_, &byte, 1, 0) <= 0) return;
    }
    FAIL("the connection is still open");
  }

 private:
  int fd_;
};

// A ZMTP 3.0 greeting (NULL mechanism) and READY of a DEALER.
std::string zmtp_greeting() {
  return std::string("\xff\0\0\0\0\0\0\0\0\x7f\x03\0", 12) + "NULL" + std::string(48, '\0');
}
std::string zmtp_ready() {
  return std::string(
      "\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06"
      "DEALER",
      30);
}

}  // namespace

TEST_CASE("broker input: garbage is refused with a reason") {
  fixture f;
  CHECK(f.refusal("x").code == wire::error_code::bad_request);
  CHECK(f.refusal(std::string(1'000, '\xff')).code == wire::error_code::bad_request);
  auto other_identifier = wire::encode({1, wire::ack{}});
  other_identifier[4] = 'X';
  CHECK(f.refusal(other_identifier).code == wire::error_code::bad_request);
  CHECK(f.rejected() == 3);
}

TEST_CASE("broker input: what only the broker says is refused") {
  fixture f;
  for (const wire::body& content : {wire::body(wire::welcome{}), wire::body(wire::ack{}), wire::body(wire::probe{}),
                                    wire::body(wire::topic_state{"t", {}, {}, 0}), wire::body(wire::topic_list{}),
                                    wire::body(wire::error{wire::error_code::limit, "x"})}) {
    CHECK(f.refusal(wire::encode({5, content})).code == wire::error_code::bad_request);
  }
}

TEST_CASE("broker input: a message of several frames costs its sender the connection") {
  fixture f;
  const auto hello = wire::encode({1, hello_of_this_process()});
  for (const auto& frames : {std::vector{hello, hello}, {std::string(), hello}, {hello, std::string(), hello}}) {
    raw_client client(f.place.endpoint(), true);
    REQUIRE(client.receive());
    client.send_frames(frames);
    REQUIRE(client.receive());  // put out and connected anew: greeted again
  }
  CHECK(f.rejected() == 3);
  CHECK(f.broker->stats().participants == 0);
}

TEST_CASE("broker input: only a DEALER is served") {
  fixture f;
  zmq::context_t context;
  zmq::socket_t requester(context, zmq::socket_type::req);
  requester.set(zmq::sockopt::linger, 0);
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  zmq_socket_monitor(requester.handle(), "inproc://events",
                     ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  monitor.connect("inproc://events");
  requester.connect(f.place.endpoint());
  zmq_pollitem_t item{monitor.handle(), 0, ZMQ_POLLIN, 0};
  CHECK(zmq_poll(&item, 1, 20'000) == 1);
  CHECK(f.rejected() == 0);
}

TEST_CASE("broker input: an empty message is a greeting, however often") {
  fixture f;
  raw_client client(f.place.endpoint());
  for (int i = 0; i < 10; ++i) client.send_frames({""});
  for (int i = 0; i < 10; ++i) CHECK(std::holds_alternative<wire::welcome>(client.receive()->content));
  CHECK(f.rejected() == 0);
}

TEST_CASE("broker input: an oversized message costs the sender its connection, and nobody else anything") {
  fixture f;
  raw_client bystander(f.place.endpoint());
  CHECK(std::holds_alternative<wire::welcome>(bystander.ask(hello_of_this_process())));
  raw_client client(f.place.endpoint(), true);
  REQUIRE(client.receive());
  client.send_frames({std::string(wire::max_control_bytes + 1, 'x')});
  REQUIRE(client.receive());  // put out and connected anew: greeted again
  CHECK(std::holds_alternative<wire::ack>(bystander.ask(wire::heartbeat{})));
  CHECK(f.rejected() == 1);
}

TEST_CASE("broker input: a gigabyte that is announced is not waited for") {
  fixture f;
  tcp_connection attacker(f.broker->endpoints()[1]);
  attacker.write(zmtp_greeting());
  attacker.read(64);
  attacker.write(zmtp_ready());
  attacker.write(std::string("\x02\0\0\0\0\x40\0\0\0", 9) + std::string(1'000, 'x'));  // a long frame of 2^30 bytes
  attacker.wait_for_end();
  CHECK(f.rejected() == 1);
}

TEST_CASE("broker input: bytes that are no ZMTP do no harm") {
  fixture f;
  CHECK(f.rejected() == 0);
  const auto connections = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = connections();
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    tcp_connection attacker(f.broker->endpoints()[1]);
    std::string bytes(200, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    if (i % 2 == 0) bytes = zmtp_greeting() + bytes;
    attacker.write(bytes);
  }
  CHECK(f.rejected() <= 20);  // some of the bytes make a message; that the broker answers is the point
  CHECK(wait_until([&] { return connections() <= before; }));
}

TEST_CASE("broker input: a participant that never reads does not stop the others") {
  fixture f;
  raw_client deaf(f.place.endpoint());
  raw_client writer(f.place.endpoint());
  deaf.socket().set(zmq::sockopt::rcvhwm, 1);
  CHECK(std::holds_alternative<wire::welcome>(deaf.ask(hello_of_this_process("deaf"))));
  CHECK(std::holds_alternative<wire::welcome>(writer.ask(hello_of_this_process("writer"))));
  for (int i = 0; i < 4; ++i) {
    const auto topic = "t" + std::to_string(i);
    CHECK(std::holds_alternative<wire::topic_state>(deaf.ask(wire::request_topic{topic, wire::id::random()})));
  }
  const auto publication = wire::id::random();
  for (int i = 0; i < 5'000; ++i) {
    const auto endpoint = "tcp://127.0.0.1:" + std::to_string(1 + i);
    const auto answer = writer.ask(wire::register_topic{"t0", publication, {{wire::transport::tcp, endpoint}}, {}});
    REQUIRE(std::holds_alternative<wire::topic_state>(answer));
  }
  CHECK(f.rejected() == 0);
}
