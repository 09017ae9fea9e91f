// The core carries a topic over a transport that it does not know.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/publication/publication.h"
#include "core/subscription/subscription.h"
#include "loopback_transport.h"
#include "support/catch.h"
#include "support/waiting_thread.h"

using namespace orc::detail;
using namespace std::chrono_literals;
using orc::test::loopback_transport;
using orc::test::waiting_thread;
namespace wire = orc::wire;

namespace {

std::string text_of(const orc::message& m) { return {static_cast<const char*>(m.data()), m.size()}; }

// A topic whose participant has one transport, without a broker and its threads.
struct topic_over_loopback {
  explicit topic_over_loopback(bool keep_last = true) {
    kinds->push_back(std::make_unique<loopback_transport>());
    orc::topic_options options;
    options.keep_last = keep_last;
    sender = std::make_unique<publication>("t", options, kinds);
  }
  void open() const { REQUIRE(sender->open(network_scope{})); }
  void request() { request(receiver); }
  void request(subscription& by) const {
    const auto offered = sender->registration();
    wire::topic_state told{.topic = "t", .publication = std::nullopt, .subscriptions = {}};
    told.publication.emplace();
    told.publication->publication = offered.publication;
    told.publication->endpoints = offered.endpoints;
    type_checks checks;
    by.update(told, true, "", checks, monotonic::now());
    by.step(monotonic::now());
  }
  void send(std::string_view text) const { REQUIRE(sender->send(text.data(), text.size())); }

  std::shared_ptr<transport_list> kinds = std::make_shared<transport_list>();
  std::unique_ptr<publication> sender;
  subscription receiver{"t", {}, {}, kinds, std::make_shared<doorbell>(), "", false, false};
  subscription second{"t", {}, {}, kinds, std::make_shared<doorbell>(), "", false, false};
};

}  // namespace

TEST_CASE("new transport: a publication opens it, and a subscription finds it", "[unit][threads]") {
  topic_over_loopback topic;
  topic.open();
  REQUIRE(topic.sender->registration().endpoints ==
          std::vector<wire::endpoint>{{loopback_transport::number, "loopback://" + topic.sender->id().hex()}});
  topic.request();
  CHECK(topic.receiver.connected());
  CHECK(topic.receiver.link().transport == static_cast<orc::transport>(loopback_transport::number));
  CHECK(topic.sender->readers() == 1);
}

TEST_CASE("new transport: samples arrive, the last one also at a subscription that joins later", "[unit][threads]") {
  topic_over_loopback topic;
  topic.open();
  topic.send("old");
  topic.send("last");
  topic.request();
  CHECK(text_of(topic.receiver.recv(0ms)) == "last");
  CHECK_FALSE(topic.receiver.recv(0ms));
  topic.send("next");
  const auto next = topic.receiver.recv(0ms);
  CHECK(text_of(next) == "next");
  CHECK(next.sequence() == 3);
  CHECK(next.missed() == 0);
}

TEST_CASE("new transport: a sample wakes a thread that waits", "[unit][threads]") {
  topic_over_loopback topic;
  topic.open();
  topic.request();
  orc::message got;
  waiting_thread user([&] { got = topic.receiver.recv(waiting_thread::limit); });
  REQUIRE(user.await_sleep());
  topic.send("now");
  CHECK(user.await_end());
  CHECK(text_of(got) == "now");
}

TEST_CASE("new transport: a subscription that joins wakes a thread that waits for readers", "[unit][threads]") {
  topic_over_loopback topic;
  topic.open();
  orc::result found;
  waiting_thread user([&] { found = topic.sender->wait_readers(1, waiting_thread::limit); });
  REQUIRE(user.await_sleep());
  topic.request();
  CHECK(user.await_end());
  CHECK(found);
}

TEST_CASE("new transport: each subscription gets the last sample, and all later ones", "[unit][threads]") {
  topic_over_loopback topic;
  topic.send("last");  // before the link is open
  topic.open();
  topic.request();
  CHECK(text_of(topic.receiver.recv(0ms)) == "last");
  topic.request(topic.second);
  CHECK(topic.sender->readers() == 2);
  CHECK(text_of(topic.second.recv(0ms)) == "last");
  topic.send("next");
  CHECK(text_of(topic.receiver.recv(0ms)) == "next");
  CHECK(text_of(topic.second.recv(0ms)) == "next");
  topic.second.close();
  CHECK(topic.sender->readers() == 1);
}

TEST_CASE("new transport: a topic that keeps no last sample gives none to later subscriptions", "[unit][threads]") {
  topic_over_loopback topic(false);
  topic.open();
  topic.send("old");
  topic.request();
  CHECK_FALSE(topic.receiver.recv(0ms));
  topic.send("next");
  const auto next = topic.receiver.recv(0ms);
  CHECK(text_of(next) == "next");
  CHECK(next.missed() == 0);
}

TEST_CASE("new transport: the link ends with its publication", "[unit][threads]") {
  topic_over_loopback topic;
  topic.open();
  topic.request();
  REQUIRE(topic.receiver.connected());
  topic.sender->close();
  CHECK_FALSE(topic.receiver.connected());
}

TEST_CASE("new transport: a participant that has no broker does not open one that needs it", "[unit][threads]") {
  topic_over_loopback topic;
  network_scope alone;
  alone.alone = true;
  CHECK(topic.sender->open(alone).code() == orc::errc::bad_argument);
}
