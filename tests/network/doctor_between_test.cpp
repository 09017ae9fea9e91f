// `orc doctor --to` on one host, `orc doctor --answer` on the other: what a firewall between them lets through.
#include <string>

#include "network/lab.h"
#include "support/catch.h"
#include "support/doctor.h"

using namespace orc::test;

namespace {

constexpr const char* network = "udpm://239.255.76.67:7667?ttl=1";

child_process run_doctor(const lab_host& on, std::vector<std::string> arguments) {
  auto words = on.here();
  words.push_back(program("orc"));
  words.emplace_back("doctor");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return child_process(std::move(words));
}

diagnosis examine(const lab_host& from, const lab_host& to, const std::string& multicast = network) {
  auto doctor = run_doctor(from, {"--to", to.address(), "--multicast", multicast});
  tool::outcome done;
  done.out = doctor.read_all();
  done.exit_code = exit_code_of(doctor);
  INFO(done.out);
  return read_diagnosis(done);
}

bool is_told(const checked& what, const std::string& expected) {
  return what.found.find(expected) != std::string::npos;
}

// Replaces what the host let in before.
void let_in(const lab_host& host, const std::string& rules) {
  host.sh("nft flush ruleset; nft 'table inet lab { chain in { type filter hook input priority 0; " + rules + " }; }'");
}

}  // namespace

TEST_CASE("11: doctor finds what a firewall between two hosts drops", "[network]") {
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_host& here = (*hosts)[0];
  const lab_host& there = (*hosts)[1];
  auto answering = run_doctor(there, {"--answer", "--multicast", network});
  REQUIRE(answering.wait_for_output("until Ctrl-C"));

  const auto check_all_is_well = [&] {
    const auto well = examine(here, there);
    CHECK(well.exit_code == 0);
    for (const char* name :
         {"other host", "clocks", "data ports there", "data ports here", "multicast there", "multicast here"}) {
      INFO(name);
      CHECK(well[name].level == "ok");
    }
    CHECK(is_told(well["other host"], "lab1 (10.78.0.2:5571)"));
    CHECK(is_told(well["multicast there"], "from 10.78.0.1"));
    CHECK(is_told(well["multicast here"], "from 10.78.0.2"));
  };
  check_all_is_well();

  let_in(there, "tcp dport != 5571 ct state new drop;");
  auto found = examine(here, there);
  CHECK(found.exit_code == 1);
  CHECK(found["data ports there"].level == "FAIL");
  CHECK(is_told(found["data ports there"], "no answer"));
  CHECK_FALSE(found["data ports there"].fixes.empty());
  CHECK(found["data ports here"].level == "ok");
  CHECK(found["multicast there"].level == "ok");

  let_in(there, "udp dport 7667 drop;");
  found = examine(here, there);
  CHECK(found["data ports there"].level == "ok");
  CHECK(found["multicast there"].level == "FAIL");
  CHECK(found["multicast here"].level == "ok");
  let_in(there, "");

  let_in(here, "meta l4proto tcp ct state new reject with tcp reset; udp dport 7667 drop;");
  found = examine(here, there);
  CHECK(found["data ports there"].level == "ok");
  CHECK(found["data ports here"].level == "FAIL");
  CHECK(is_told(found["data ports here"], "refused"));
  CHECK(found["multicast there"].level == "ok");
  CHECK(found["multicast here"].level == "FAIL");
  let_in(here, "");

  // Full packets only. They come as they are on the wire.
  for (const std::size_t host : {0U, 1U}) hosts->set_mtu(host, 1500);
  check_all_is_well();
  const auto narrow = [](const lab_host& host) {
    host.sh(
        "nft 'table netdev narrow { chain in { type filter hook ingress device eth0 priority 0; "
        "meta length > 1400 drop; }; }'");
  };
  narrow(there);
  found = examine(here, there);
  CHECK(found["other host"].level == "ok");
  CHECK(found["data ports there"].level == "FAIL");
  CHECK(is_told(found["data ports there"], "full packets do not arrive"));
  CHECK(found["data ports here"].level == "ok");
  CHECK(found["multicast there"].level == "note");
  CHECK(is_told(found["multicast there"], "no datagrams of 1416 bytes"));
  CHECK(found["multicast here"].level == "ok");
  there.sh("nft flush ruleset");
  narrow(here);
  found = examine(here, there);
  CHECK(found["data ports there"].level == "ok");
  CHECK(is_told(found["data ports here"], "full packets do not arrive"));
  CHECK(found["multicast there"].level == "ok");
  CHECK(found["multicast here"].level == "note");
  here.sh("nft flush ruleset");

  // Networks that do not meet, and one that stays here.
  found = examine(here, there, "udpm://239.255.76.67:7668?ttl=1");
  CHECK(found["multicast between"].level == "FAIL");
  CHECK(is_told(found["multicast between"], "they do not meet"));
  found = examine(here, there, "udpm://239.255.76.67:7667?ttl=0");
  CHECK(found["multicast between"].level == "note");
  CHECK(found.exit_code == 0);

  // Nonsense and silence do not keep it from answering others.
  here.sh("bash -c 'head -c 1000000 /dev/urandom > /dev/tcp/10.78.0.2/5571' || true");
  here.sh("timeout 1 bash -c 'exec 3<>/dev/tcp/10.78.0.2/5571; sleep 9' || true");
  check_all_is_well();

  hosts->cut(1, outage::silent);
  found = examine(here, there);
  CHECK(found.exit_code == 1);
  CHECK(found["other host"].level == "FAIL");
  CHECK(is_told(found["other host"], "10.78.0.2:5571: no answer"));
  hosts->mend(1);

  answering.kill();
  REQUIRE(answering.wait());
  CHECK(wait_until([&] {
    found = examine(here, there);
    return is_told(found["other host"], "refused");
  }));
  CHECK(found["other host"].fixes == std::vector<std::string>{"orc doctor --answer   # there"});
}
