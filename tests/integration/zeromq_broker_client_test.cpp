// Any ZeroMQ DEALER can be a client of the broker: stock libzmq with every option that touches the connection, and
// pyzmq.
#include <optional>
#include <string>
#include <vector>

#include "support/broker_process.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/raw_client.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// argv: endpoint, directory of the golden vectors. Prints what the broker answers and pushes, as lines of a length
// each.
constexpr const char* pyzmq_client = R"(
import sys
try:
    import zmq
except ImportError:
    print("no pyzmq", flush=True)
    sys.exit()
context = zmq.Context()
socket = context.socket(zmq.DEALER)
socket.set(zmq.LINGER, 0)
socket.set(zmq.IDENTITY, b"chosen by the client")
socket.set(zmq.PROBE_ROUTER, 1)
socket.set(zmq.IMMEDIATE, 1)
socket.set(zmq.HEARTBEAT_IVL, 50)
socket.set(zmq.HEARTBEAT_TIMEOUT, 30000)
socket.connect(sys.argv[1])
def hear(what):
    if not socket.poll(30000):
        sys.exit("nothing was heard: " + what)
    parts = socket.recv_multipart()
    print(what if len(parts) == 1 and parts[0][4:8] == b"ORC1" else "malformed", flush=True)
hear("greeting")
for request in sys.argv[2:]:
    socket.send(bytes.fromhex(request))
    hear("answer")
hear("event")
)";

std::string in_hexadecimal(const std::string& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("stock DEALER: heartbeats, an identity and a new broker at the same place are no trouble") {
  const auto kind = GENERATE(broker_process::at::ipc, broker_process::at::tcp);
  broker_process broker(kind);
  raw_client client(broker.endpoint(), true);
  client.socket().disconnect(broker.endpoint());
  client.socket().set(zmq::sockopt::routing_id, "chosen by the client");
  client.socket().set(zmq::sockopt::heartbeat_ivl, 20);
  client.socket().set(zmq::sockopt::heartbeat_timeout, 10'000);
  client.socket().set(zmq::sockopt::heartbeat_ttl, 10'000);
  client.socket().connect(broker.endpoint());
  std::uint64_t epoch = 0;
  for (int round = 0; round < 2; ++round) {
    std::optional<wire::envelope> greeting;
    do {  // the connection without these options may have been greeted as well
      greeting = client.next_event();
      REQUIRE(greeting);
      REQUIRE(std::holds_alternative<wire::welcome>(greeting->content));
    } while (std::get<wire::welcome>(greeting->content).epoch == epoch);
    epoch = std::get<wire::welcome>(greeting->content).epoch;
    CHECK(std::holds_alternative<wire::welcome>(client.ask(hello_of_this_process("stock"))));
    for (int n = 0; n < 20; ++n) CHECK(std::holds_alternative<wire::ack>(client.ask(wire::heartbeat{})));
    if (round == 0) broker.restart();
  }
}

TEST_CASE("stock DEALER: pyzmq registers, requests and gets its events") {
  const auto kind = GENERATE(broker_process::at::ipc, broker_process::at::tcp);
  broker_process broker(kind);
  std::vector<std::string> command{"/usr/bin/python3", "-c", pyzmq_client, broker.endpoint()};
  for (const wire::body& content :
       {wire::body(hello_of_this_process("pyzmq")), wire::body(wire::request_topic{"t", wire::id::random()}),
        wire::body(wire::register_topic{"t", wire::id::random(), {}, {}})}) {
    command.push_back(in_hexadecimal(wire::encode({command.size(), content})));
  }
  child_process client(command);
  const auto said = client.read_all();
  if (said == "no pyzmq\n") return skip("no pyzmq (python3-zmq)");
  CHECK(said == "greeting\nanswer\nanswer\nanswer\nevent\n");
  CHECK(client.wait() == 0);
}
