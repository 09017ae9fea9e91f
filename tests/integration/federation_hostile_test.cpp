// Peers that do not behave, against a real broker: programs of its own host are served meanwhile.
#include <zmq.h>

#include <string>

#include "integration/federated_brokers.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/raw_socket.h"

using namespace orc;
using namespace orc::test;

namespace {

// A peer that the test plays.
class played_peer {
 public:
  played_peer() : socket_(ZMQ_ROUTER) { socket_.bind("tcp://127.0.0.1:*"); }
  [[nodiscard]] std::string endpoint() const { return socket_.bound_to(); }
  // The next question; its number. 0: none came.
  std::uint64_t next(std::chrono::milliseconds within = patience) {
    const auto frames = socket_.receive(within);
    if (!frames) return 0;
    asking_ = frames->front();
    const auto message = wire::decode(std::as_bytes(std::span(frames->back())));
    return message ? message->request : 0;
  }
  void say(const std::string& bytes) { socket_.send({asking_, bytes}); }
  void answer(std::uint64_t number, const wire::changes& what) { say(wire::encode({number, what})); }

 private:
  raw_socket socket_;
  std::string asking_;
};

wire::changes page(std::uint64_t until, std::size_t topics, bool reset, bool more) {
  wire::changes made{{7, 1, until}, reset, more, {}, {}};
  made.host_name = "played";
  for (std::size_t n = 0; n < topics; ++n) {
    wire::topic_state state{
        "flood/" + std::to_string(until) + "/" + std::to_string(n), wire::publication_info{}, {}, 0};
    state.publication->publication = wire::id::random();
    state.publication->participant = wire::id::random();
    state.publication->host = "elsewhere";
    state.publication->endpoints = {{wire::transport::tcp, "tcp://127.0.0.1:40000"}};
    made.topics.push_back(std::move(state));
  }
  return made;
}

}  // namespace

TEST_CASE("hostile peers: one that floods, stalls or sends frames that are too long costs its own link only") {
  played_peer flooding;
  played_peer stalling;
  played_peer shouting;
  federated_brokers hosts(1, "60", {flooding.endpoint(), stalling.endpoint(), shouting.endpoint()});
  hosts.start(0);
  const auto& broker = hosts.endpoint(0);
  bare_publisher here(broker);
  std::uint64_t until = 1;
  std::uint64_t served = 0;
  for (bool first = true; peer_of(broker, 1).state != wire::peer_state::refused; first = false) {
    REQUIRE(until < 5'000);
    const auto number = flooding.next();
    if (number == 0) break;
    flooding.answer(number, page(++until, 100, first, true));
    if (until % 20 == 0) {
      REQUIRE(here.published("local" + std::to_string(until)));
      ++served;
    }
  }
  CHECK(served > 5);
  CHECK_THAT(peer_of(broker, 1).reason, contains("no more than"));
  CHECK(here.published("after"));

  // Questions that waited meanwhile may be of links that the broker has given up: who answers them is not heard.
  CHECK(wait_until([&] {
    if (shouting.next(std::chrono::milliseconds(100)) != 0) shouting.say(std::string(wire::max_control_bytes + 1, 'x'));
    return peer_of(broker, 3).reason.find("too long") != std::string::npos;
  }));
  CHECK(wait_until([&] { return peer_of(broker, 2).reason == "silent"; }));
  CHECK(here.published("later"));
  if (!under_sanitizer) CHECK(stats_of(hosts.process(0).pid()).rss_kib < 200 * 1024);
}

TEST_CASE("hostile peers: who connects to a broker cannot pose as its peer") {
  federated_brokers hosts(2);
  hosts.start_all();
  bare_publisher here(hosts.endpoint(0));
  REQUIRE(here.published("pose"));
  REQUIRE(wait_until([&] { return state_of(hosts.endpoint(0), 1) == wire::peer_state::up; }));
  raw_client stranger(hosts.endpoint(0));
  auto claim = page(2, 3, true, false);
  claim.host_name = "host1";
  claim.topics[0].topic = "pose";
  claim.topics[0].displaced = {here.ids.at("pose")};
  const auto answer = stranger.ask(claim);
  CHECK(std::holds_alternative<wire::error>(answer));
  CHECK(host_of(hosts.endpoint(0), "pose").empty());
  CHECK(host_of(hosts.endpoint(0), claim.topics[1].topic) == "-");
  CHECK(state_of(hosts.endpoint(0), 1) == wire::peer_state::up);
  CHECK(peer_of(hosts.endpoint(0), 1).topics == 0);
}
