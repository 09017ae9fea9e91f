// Several brokers are named: the map moves to the next one when the first is lost, and back when that answers again.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/lab.h"
#include "network/streams.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/private_endpoint.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr int within_ms = 1500 + (under_sanitizer ? 1500 : 300);

// A broker, and what it knows of the topic: asked for from outside of the hosts.
struct watched_broker {
  explicit watched_broker(const lab_host& on, std::vector<std::string> more = {})
      : broker(on, "tcp://*:5570", with_questions(std::move(more))) {}
  std::vector<std::string> with_questions(std::vector<std::string> more) const {
    more.insert(more.end(), {"--listen", questions.endpoint()});
    return more;
  }
  // Where its publication listens: "tcp://10.78.0.2:…". Behind "@": that of a peer. "": it has none.
  [[nodiscard]] std::string owner() const {
    raw_client client(questions.endpoint());
    const auto known = described(client, "pose").publication;
    if (!known || known->endpoints.empty()) return {};
    return (known->host_name.empty() ? "" : "@") + known->endpoints.front().address;
  }
  [[nodiscard]] const std::string& endpoint() const { return broker.endpoint(); }

  private_endpoint questions;
  lab_broker broker;
};

// Broker a on host 0, b on host 3; a publisher on host 1 and a subscriber on host 2 name both, and a rival a alone.
struct two_named {
  explicit two_named(lab& hosts, const std::vector<std::string>& of_a = {}, const std::vector<std::string>& of_b = {})
      : all(hosts), a(all[0], of_a), b(all[3], of_b) {
    publisher = node_on(all[1], both);
    subscriber = node_on(all[2], both);
    rival = node_on(all[2], a.endpoint());
    start_stream(*publisher, "pose", "tcp");
    subscriber->must("request pose any 0 1000 5000");
    subscriber->must("collect pose");
    REQUIRE(hears_more(*subscriber, "pose", 10));
    owner = a.owner();
    REQUIRE_FALSE(owner.empty());
  }
  // The publisher loses only a, until b knows it and a does not.
  void lose_a() {
    all.cut_between(1, 0, outage::ip);
    REQUIRE(wait_until([&] { return b.owner() == owner && a.owner() != owner; }));
  }

  lab& all;
  watched_broker a;
  watched_broker b;
  const std::string both = a.endpoint() + "," + b.endpoint();
  std::unique_ptr<test_node> publisher;
  std::unique_ptr<test_node> subscriber;
  std::unique_ptr<test_node> rival;
  std::string owner;
};

}  // namespace

TEST_CASE("13: the map moves to the next broker within a second, and back when the first returns", "[network]") {
  std::string why;
  const auto hosts = lab::make(4, why);
  if (!hosts) return skip(why);
  two_named of(*hosts);
  of.subscriber->must("request later any 1 0 0");
  CHECK(of.b.owner().empty());  // nobody is there yet

  of.a.broker.kill();
  const auto killed = std::chrono::steady_clock::now();
  of.publisher->tell("register later tcp");
  CHECK(wait_until([&] { return !of.subscriber->ask("link later").starts_with("none"); }));
  CHECK(ms_since(killed) <= 1000 + (under_sanitizer ? 1500 : 300));
  CHECK(of.publisher->answer() == "ok");
  CHECK(wait_until([&] { return topics_of(of.all[1], of.both).find("pose") != std::string::npos; }));

  of.a.broker.start();
  const auto started = std::chrono::steady_clock::now();
  CHECK(wait_until([&] { return of.a.owner() == of.owner; }));
  CHECK(ms_since(started) <= within_ms);
  CHECK(wait_until([&] { return of.b.owner().empty(); }));
  CHECK(of.subscriber->stats("pose").missed == 0);
}

TEST_CASE("13: a publisher that loses only the first broker returns to it, and a name has one owner", "[network]") {
  std::string why;
  const auto hosts = lab::make(4, why);
  if (!hosts) return skip(why);
  two_named of(*hosts);
  of.lose_a();
  of.all.mend(1);
  const auto mended = std::chrono::steady_clock::now();
  CHECK(wait_until([&] { return of.a.owner() == of.owner; }));
  CHECK(ms_since(mended) <= within_ms);
  CHECK_THAT(of.rival->ask("register pose tcp"), contains("published by"));
  CHECK(wait_until([&] { return of.b.owner().empty(); }));
  CHECK(of.subscriber->stats("pose").missed == 0);

  // Who took the name meanwhile keeps it. The other one asks until it is free.
  of.lose_a();
  of.rival->must("register pose tcp");
  const auto rival = of.a.owner();
  of.all.mend(1);
  CHECK(wait_until([&] { return of.b.owner().empty(); }));
  CHECK(of.a.owner() == rival);
  of.rival->must("unregister pose");
  CHECK(wait_until([&] { return of.a.owner() == of.owner; }));
}

TEST_CASE("13: with brokers that know each other, no rival gets the name meanwhile", "[network]") {
  std::string why;
  const auto hosts = lab::make(4, why);
  if (!hosts) return skip(why);
  two_named of(*hosts, {"--peer", "tcp://10.78.0.4:5570"}, {"--peer", "tcp://10.78.0.1:5570"});
  of.all.cut_between(1, 0, outage::ip);
  REQUIRE(wait_until([&] { return of.b.owner() == of.owner && of.a.owner() == "@" + of.owner; }));
  CHECK_THAT(of.rival->ask("register pose tcp"), contains("published by"));
  of.all.mend(1);
  const auto mended = std::chrono::steady_clock::now();
  CHECK(wait_until([&] { return of.a.owner() == of.owner; }));
  CHECK(ms_since(mended) <= within_ms);
  CHECK(wait_until([&] { return of.b.owner() == "@" + of.owner; }));
  CHECK_THAT(of.rival->ask("register pose tcp"), contains("published by"));
  CHECK(of.subscriber->stats("pose").missed == 0);
}
