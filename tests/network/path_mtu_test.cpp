// Paths that swallow large packets and report nothing: a switch without jumbo frames, a tunnel behind a router whose
// ICMP a firewall drops. Pings, announcements and small samples arrive, so nothing else shows it.
#include <string>

#include "network/lab.h"
#include "network/streams.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// From then on the host gets no larger packets.
void narrow(const lab_host& host, int bytes) {
  host.sh("nft 'table netdev narrow { chain in { type filter hook ingress device eth0 priority 0; meta length > " +
          std::to_string(bytes) + " drop; }; }'");
}

std::string link_of(test_node& node) { return node.ask("link t"); }

struct path {
  int mtu;     // of both interfaces
  int passes;  // what gets through
};

}  // namespace

TEST_CASE("1: over multicast large samples arrive although large datagrams do not", "[network]") {
  for (const path each : {path{9000, 1500}, path{1500, 1400}}) {
    for (const std::string options : {"", "&fec=20"}) {
      if (!options.empty() && !long_run()) continue;
      INFO(each.mtu << " to " << each.passes << options);
      std::string why;
      const auto hosts = lab::make(2, why);
      if (!hosts) return skip(why);
      for (const std::size_t host : {0U, 1U}) hosts->set_mtu(host, each.mtu);
      narrow((*hosts)[1], each.passes);
      const std::string network = "ORC_MULTICAST=udpm://239.255.76.67:7667?ttl=1" + options;
      const auto publisher = node_on((*hosts)[0], "none", {network});
      const auto subscriber = node_on((*hosts)[1], "none", {network});
      publisher->must("register t multicast");
      follow(*subscriber, "t", "multicast");
      CHECK(link_of(*subscriber).find("datagrams") == std::string::npos);
      // One that nothing follows, and a stream.
      publisher->must("stream t 100000 100 1");
      CHECK(wait_until([&] { return subscriber->stats("t").received == 1; }));
      publisher->must("stream t 100000 100 0");
      CHECK(hears_more(*subscriber, "t", 20));
      CHECK(wait_until([&] { return link_of(*subscriber).find("larger ones were lost") != std::string::npos; }));
      // Trials of large datagrams risk no sample, and find that the path has become good.
      if (long_run()) {
        CHECK(hears_more(*subscriber, "t", 1000));
        CHECK(link_of(*subscriber).find("larger ones were lost") != std::string::npos);
      }
      if (each.mtu == 9000) {
        (*hosts)[1].sh("nft flush ruleset");
        CHECK(wait_until([&] { return link_of(*subscriber).find("larger ones were lost") == std::string::npos; }));
        CHECK(hears_more(*subscriber, "t", 20));
      }
      CHECK(subscriber->stats("t").corrupt == 0);
    }
  }
}

TEST_CASE("1: over tcp large samples arrive although large packets do not", "[network]") {
  for (const bool from_the_start : {true, false}) {
    if (!from_the_start && !long_run()) continue;
    INFO(from_the_start);
    std::string why;
    const auto hosts = lab::make(2, why);
    if (!hosts) return skip(why);
    for (const std::size_t host : {0U, 1U}) hosts->set_mtu(host, 1500);
    if (from_the_start) narrow((*hosts)[1], 1400);
    const lab_broker broker((*hosts)[1]);
    const auto publisher = node_on((*hosts)[0], broker.endpoint());
    const auto subscriber = node_on((*hosts)[1], broker.endpoint());
    publisher->must("register t tcp");
    follow(*subscriber, "t", "tcp");
    if (!from_the_start) {
      publisher->must("stream t 100000 50 0");
      CHECK(hears_more(*subscriber, "t", 20));
      CHECK(link_of(*subscriber).find("packets") == std::string::npos);
      narrow((*hosts)[1], 1400);
      CHECK(hears_more(*subscriber, "t", 20));
    } else {
      publisher->must("stream t 100000 50 1");
      CHECK(wait_until([&] { return subscriber->stats("t").received == 1; }));
    }
    CHECK(wait_until([&] { return link_of(*subscriber).find("larger ones were lost") != std::string::npos; }));
    publisher->must("stream t 100000 50 0");
    CHECK(hears_more(*subscriber, "t", 20));
    CHECK(subscriber->stats("t").corrupt == 0);
  }
}
