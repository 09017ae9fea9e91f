// Multicast over an IPv6 group. What the group does not change is in the other files.
#include <functional>
#include <string>
#include <thread>

#include "conformance/each_arrives.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/own_network.h"
#include "support/payload.h"
#include "support/test_group.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

const std::string group = "udpm://[ff15::76:67]:7667?ttl=0";
const orc::request_options wanted_within{.connected_within = patience};

// Runs `body` in a network of its own, whose lo has the route that an IPv6 group needs there.
void over_ipv6(const std::function<void()>& body) {
  std::string why;
  std::thread([&] {
    if (!enter_own_network(why) || !run_command({"ip", "-6", "route", "add", "local", "ff00::/8", "dev", "lo"}, why))
      return;
    why.clear();
    body();
  }).join();
  if (!why.empty()) skip(why);
}

}  // namespace

TEST_CASE("multicast over IPv6: newest wins, and each sample says what was missed", "[conformance][threads]") {
  over_ipv6([] {
    orc::participant sender(alone(group));
    orc::participant receiver(alone(group));
    REQUIRE(receiver.request_topic("t"));
    REQUIRE(sender.register_topic("t"));
    CHECK(receiver.subscriber("t").wait_connected(patience_ms));
    auto publisher = sender.publisher("t");
    each_arrives(publisher, receiver, "t", 1000);
    for (std::uint64_t value = 1001; value <= 1100; ++value) REQUIRE(send_value(publisher, value));
    CHECK(wait_until([&] {
      const auto got = receiver.recv_msg("t", 0);
      return got && value_of(got) == 1100;
    }));
    CHECK(wait_until([&] { return publisher.readers() == 1; }));
  });
}

TEST_CASE("multicast over IPv6: a large sample arrives whole, also with parity", "[conformance][threads]") {
  over_ipv6([] {
    for (const std::string more : {"", "&fec=20"}) {
      orc::participant sender(alone(group + more));
      orc::participant receiver(alone(group + more));
      REQUIRE(receiver.request_topic("large"));
      REQUIRE(sender.register_topic("large"));
      CHECK(receiver.subscriber("large").wait_connected(patience_ms));
      const auto sample = patterned(3'000'000, 7);
      REQUIRE(sender.send_msg("large", sample.data(), sample.size()));
      const auto got = receiver.recv_msg("large", patience_ms);
      REQUIRE(got);
      CHECK(holds(got, sample));
    }
  });
}

TEST_CASE("multicast over IPv6: who comes late is sent the last sample alone", "[conformance][threads]") {
  over_ipv6([] {
    broker_process address_broker;
    auto there = address_broker.options("sender");
    there.multicast = group;
    auto here = address_broker.options("receiver");
    here.multicast = group;
    orc::participant sender(there);
    orc::topic_options offered;
    offered.transports = {orc::transport::multicast};
    REQUIRE(sender.register_topic("late", offered));
    const auto sample = patterned(300'000, 3);
    REQUIRE(sender.send_msg("late", sample.data(), sample.size()));
    orc::participant receiver(here);
    REQUIRE(receiver.request_topic("late", wanted_within).result());
    const auto got = receiver.recv_msg("late", patience_ms);
    REQUIRE(got);
    CHECK(holds(got, sample));
    CHECK(receiver.subscriber("late").link().transport == orc::transport::multicast);
  });
}

TEST_CASE("multicast over IPv6: two publishers of a topic are kept apart, and both heard", "[conformance][threads]") {
  over_ipv6([] {
    orc::participant first(alone(group));
    orc::participant second(alone(group));
    orc::participant receiver(alone(group));
    for (orc::participant* const each : {&first, &second}) REQUIRE(each->register_topic("many"));
    REQUIRE(receiver.request_topic("many", {.conflate = 0, .depth = 1000}).result());
    auto of_one = first.publisher("many");
    auto of_two = second.publisher("many");
    bool of_first = false;
    bool of_second = false;
    CHECK(wait_until([&] {
      REQUIRE(send_value(of_one, 1));
      REQUIRE(send_value(of_two, 2));
      while (const auto got = receiver.recv_msg("many", 0)) {
        of_first = of_first || value_of(got) == 1;
        of_second = of_second || value_of(got) == 2;
      }
      return of_first && of_second;
    }));
  });
}
