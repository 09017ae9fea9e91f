// The core carries a topic over a transport that it does not know.
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/publication.h"
#include "core/subscription.h"
#include "loopback_transport.h"
#include "support/budget.h"
#include "support/catch.h"

using namespace orc::detail;
using orc::test::loopback_transport;
namespace wire = orc::wire;

namespace {

constexpr auto patience_ms = static_cast<int>(orc::test::patience.count());

std::string text_of(const orc::message& m) { return {static_cast<const char*>(m.data()), m.size()}; }

// A topic whose participant has one transport, without a broker and its threads.
struct topic_over_loopback {
  topic_over_loopback() { kinds->push_back(std::make_unique<loopback_transport>()); }
  void request() {
    const auto offered = sender.registration();
    wire::topic_state told{.topic = "t", .publication = std::nullopt, .subscriptions = {}};
    told.publication.emplace();
    told.publication->publication = offered.publication;
    told.publication->endpoints = offered.endpoints;
    receiver.update(told, true, "", monotonic::now());
    receiver.step(monotonic::now());
  }
  void send(std::string_view text) { REQUIRE(sender.send(text.data(), text.size())); }

  std::shared_ptr<transport_list> kinds = std::make_shared<transport_list>();
  publication sender{"t", {}, kinds};
  subscription receiver{"t", {}, {}, kinds, std::make_shared<doorbell>(), "", false, false};
};

}  // namespace

TEST_CASE("new transport: a publication opens it, and a subscription finds it", "[unit]") {
  topic_over_loopback topic;
  REQUIRE(topic.sender.open(network_place{}));
  REQUIRE(topic.sender.registration().endpoints ==
          std::vector<wire::endpoint>{{loopback_transport::number, "loopback://" + topic.sender.id().hex()}});
  topic.request();
  CHECK(topic.receiver.connected());
  CHECK(topic.receiver.link().transport == static_cast<orc::transport>(loopback_transport::number));
  CHECK(topic.sender.readers() == 1);
}

TEST_CASE("new transport: samples arrive, the last one also at a subscription that joins later", "[unit]") {
  topic_over_loopback topic;
  REQUIRE(topic.sender.open(network_place{}));
  topic.send("old");
  topic.send("last");
  topic.request();
  CHECK(text_of(topic.receiver.recv(0)) == "last");
  CHECK_FALSE(topic.receiver.recv(0));
  topic.send("next");
  const auto next = topic.receiver.recv(0);
  CHECK(text_of(next) == "next");
  CHECK(next.sequence() == 3);
  CHECK(next.missed() == 0);
}

TEST_CASE("new transport: a sample wakes a thread that waits", "[unit]") {
  topic_over_loopback topic;
  REQUIRE(topic.sender.open(network_place{}));
  topic.request();
  std::thread later([&] { topic.send("now"); });
  CHECK(text_of(topic.receiver.recv(patience_ms)) == "now");
  later.join();
}

TEST_CASE("new transport: a participant that has no broker does not open one that needs it", "[unit]") {
  topic_over_loopback topic;
  network_place alone;
  alone.alone = true;
  CHECK(topic.sender.open(alone).code() == orc::errc::bad_argument);
}
