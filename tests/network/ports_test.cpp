// ORC_PORTS: a firewall that lets in a range of ports lets samples pass.
#include <string>

#include "network/lab.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("11: samples pass a firewall that lets in the ports of ORC_PORTS", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_host& publishing = (*hosts)[0];
  const lab_host& subscribing = (*hosts)[1];
  lab_broker broker(publishing);
  publishing.sh(
      "nft 'table inet lab { chain in { type filter hook input priority 0; iifname lo accept; "
      "ct state established,related accept; tcp dport { 5570, 40000-40010 } accept; meta l4proto tcp drop; }; }'");
  const auto inside = node_on(publishing, broker.endpoint(), {"ORC_PORTS=40000-40010"});
  const auto outside = node_on(publishing, broker.endpoint(), {"ORC_PORTS=41000-41010"});
  const auto subscriber = node_on(subscribing, broker.endpoint());
  inside->must("register pose tcp");
  outside->must("register map tcp");
  subscriber->must("request pose any 0 1000 5000");
  inside->must("stream pose 100 100 0");
  subscriber->must("collect pose");
  CHECK(wait_until([&] { return subscriber->stats("pose").received > 100; }));
  CHECK(subscriber->ask("link pose").starts_with("tcp"));
  CHECK(subscriber->ask("request map any 1 0 2000").starts_with("error"));  // no link within 2 s
  const auto link = subscriber->ask("link map");
  INFO(link);
  CHECK(link.starts_with("none"));
  CHECK(link.find("10.78.0.1:410") != std::string::npos);
  CHECK(link.find("no answer for") != std::string::npos);
}
