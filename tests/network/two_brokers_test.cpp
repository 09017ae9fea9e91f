// Multicast between programs of two brokers.
#include <string>
#include <vector>

#include "network/lab.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

std::unique_ptr<test_node> node_at(const lab_host& host, const lab_broker& broker) {
  return node_on(host, broker.endpoint(), {"ORC_MULTICAST=udpm://239.255.76.67:7667?ttl=1"});
}

}  // namespace

TEST_CASE("9: a subscription hears over multicast what is registered at another broker", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_broker here((*hosts)[0]);
  const lab_broker there((*hosts)[1]);
  const auto publisher = node_at((*hosts)[0], here);
  const auto neighbour = node_at((*hosts)[0], here);
  const auto foreign = node_at((*hosts)[1], there);
  const auto early = node_at((*hosts)[1], there);
  const auto listen = [](test_node& node) {
    node.must("request pose multicast 0 1000");
    node.must("collect pose");
  };
  listen(*early);
  publisher->must("register pose multicast");
  publisher->must("stream pose 100 100");
  REQUIRE(wait_until([&] { return publisher->progress("pose").sent >= 100; }));
  listen(*neighbour);
  listen(*foreign);
  for (test_node* const node : {early.get(), foreign.get(), neighbour.get()}) {
    // Announcements come every second: several of them pass while it has to hear everything.
    CHECK(wait_until([&] { return node->stats("pose").received >= 150; }));
    const auto before = node->stats("pose");
    CHECK(wait_until([&] { return node->stats("pose").received >= before.received + 300; }));
    const auto after = node->stats("pose");
    CHECK(after.gaps == before.gaps);
    CHECK(after.backwards == 0);
    CHECK(after.corrupt == 0);
  }
  // The last one arrives everywhere.
  publisher->must("stream pose 100 100 1");
  CHECK(wait_until([&] { return early->stats("pose").last_value == 1 && foreign->stats("pose").last_value == 1; }));
}

TEST_CASE("9: a subscription follows its own broker's publication, not another broker's of the same name",
          "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_broker here((*hosts)[0]);
  const lab_broker there((*hosts)[1]);
  const auto ours = node_at((*hosts)[0], here);
  const auto theirs = node_at((*hosts)[1], there);
  const auto subscriber = node_at((*hosts)[0], here);
  ours->must("register pose multicast");
  theirs->must("register pose multicast");
  subscriber->must("request pose multicast 0 1000");
  subscriber->must("collect pose");
  ours->must("stream pose 100 100");
  theirs->must("stream pose 100 100");
  CHECK(wait_until([&] { return subscriber->stats("pose").received >= 300; }));
  const auto got = subscriber->stats("pose");
  CHECK(got.restarts == 0);
  CHECK(got.backwards == 0);
}
