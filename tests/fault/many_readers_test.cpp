// One program, or one host, that wants all places of the readers of a publication.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/stream_peer.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

namespace {

// Connects from that address of this host.
std::optional<stream_peer> connected_from(const char* own, const std::string& endpoint) {
  orc::detail::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, own, &address.sin_addr);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return std::nullopt;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(endpoint.substr(endpoint.rfind(':') + 1).c_str())));
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return std::nullopt;
  return stream_peer(std::move(fd));
}

// A publisher with few descriptors, and readers that take nothing.
struct besieged {
  besieged() {
    node.must("open " + address_broker.endpoint() + " " + std::to_string(patience_ms));
    for (const char* topic : {"t", "u"}) node.must(std::string("register ") + topic + " tcp");
  }
  void attack(const char* from, const std::string& topic, int readers) {
    raw_client client(address_broker.endpoint());
    const wire::id publication = described(client, topic).publication->publication;
    const std::string endpoint = address_of(address_broker.endpoint(), topic, wire::transport::tcp);
    for (int n = 0; n < readers; ++n) {
      auto peer = connected_from(from, endpoint);
      if (!peer ||
          !peer->say(zmtp_introduction("DEALER") + zmtp_frame(hello_frame(publication, wire::id::random(), 0))))
        continue;
      (void)peer->hear_link_message(std::chrono::milliseconds(20));  // those that nobody accepts get no answer
      peers.push_back(*std::move(peer));
    }
  }

  broker_process address_broker;
  test_node node{{"/bin/sh", "-c", "ulimit -n 256; exec \"$0\" \"$@\""}};
  std::vector<stream_peer> peers;
};

}  // namespace

TEST_CASE("many readers: a host with readers of several topics leaves descriptors for others", "[fault]") {
  besieged publisher;
  for (const char* topic : {"t", "u"}) publisher.attack("127.0.0.2", topic, 250);
  orc::participant honest(publisher.address_broker.options("honest"));
  orc::subscriber samples = honest.request_topic("u", {.transports = {orc::transport::tcp}});
  REQUIRE(samples.wait_connected(patience_ms));
  publisher.node.must("send u 7 100");
  CHECK(samples.recv(patience_ms));
}

TEST_CASE("many readers: of one host, those that take nothing make room", "[fault]") {
  besieged publisher;
  publisher.attack("127.0.0.1", "t", 200);
  orc::participant honest(publisher.address_broker.options("honest"));
  orc::subscriber samples = honest.request_topic("t", {.transports = {orc::transport::tcp}});
  CHECK(wait_until([&] {
    publisher.node.must("send t 7 100000");
    return static_cast<bool>(samples.recv(10));
  }));
}
