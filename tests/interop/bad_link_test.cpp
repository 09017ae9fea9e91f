// ORC's multicast between two hosts over a cable that loses, repeats, delays and reorders frames, and liblcm over the
// same one for comparison: nothing wrong is delivered, nothing older after something newer, and the last one arrives.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interop/peers.h"
#include "support/net_namespace.h"

using namespace orc::test;
using host = two_hosts::host;

namespace {

const std::string url = "udpm://239.255.76.67:7667?ttl=1&recv_buf_size=4194304";
const std::string channel = "BAD_LINK";

// What came of a stream.
struct delivery {
  unsigned arrived = 0;    // different messages
  unsigned wrong = 0;      // content that nobody sent
  unsigned twice = 0;      // came again
  unsigned backwards = 0;  // older than one before
  std::uint32_t last = 0;
};

class observer {
 public:
  observer(kind which, const std::string& verb, const std::string& at, const two_hosts& hosts, std::size_t size)
      : size_(size), receiver_(which, verb, {at, channel}, hosts.on(host::b)) {}

  void take(const received& message) {
    if (!is_told(message, size_)) {
      ++seen_.wrong;
      return;
    }
    if (!numbers_.insert(message.number).second) ++seen_.twice;
    if (message.number < seen_.last) ++seen_.backwards;
    seen_.arrived = static_cast<unsigned>(numbers_.size());
    seen_.last = message.number;
  }
  // Until message `number` has come.
  [[nodiscard]] bool sees(std::uint32_t number) {
    while (seen_.last != number) {
      const auto got = receiver_.next();
      if (!got) return false;
      take(*got);
    }
    return true;
  }
  [[nodiscard]] delivery rest() {
    for (const auto& message : receiver_.rest(std::chrono::milliseconds(300))) take(message);
    return seen_;
  }

 private:
  const std::size_t size_;
  peer receiver_;
  std::set<std::uint32_t> numbers_;
  delivery seen_;
};

constexpr auto lcm_url = "udpm://239.255.76.68:7668?ttl=1&recv_buf_size=4194304";

struct both {
  delivery orc;
  delivery lcm;
};

// The same stream from both at the same time; checks what ORC promises on every cable. `to_the_last`: and what it
// promises where datagrams go both ways.
both deliver(const std::string& orc_url, const two_hosts& hosts, const stream& what, bool to_the_last = true) {
  observer newest(kind::orc, "newest", orc_url, hosts, what.size);
  observer all(kind::orc, "receive", orc_url, hosts, what.size);
  observer of_lcm(kind::lcm, "receive", lcm_url, hosts, what.size);
  peer orc = send(kind::orc, orc_url, channel, what, hosts.on(host::a));
  peer lcm = send(kind::lcm, lcm_url, channel, what, hosts.on(host::a));
  for (auto* each : {&orc, &lcm}) {
    REQUIRE(each->line(2 * patience).value_or("nothing") == "sent " + std::to_string(what.count));
  }
  if (to_the_last) {
    CHECK(newest.sees(what.count));
    CHECK(all.sees(what.count));
  }
  for (auto* each : {&newest, &all}) {
    const delivery seen = each->rest();
    CHECK(seen.wrong == 0);
    CHECK(seen.twice == 0);
    CHECK(seen.backwards == 0);
    CHECK((!to_the_last || seen.last == what.count));
  }
  return {all.rest(), of_lcm.rest()};
}

double percent(const delivery& of, const stream& what) { return 100.0 * of.arrived / what.count; }

void endure(const std::string& name, const weather& bad) {
  for (const stream& what :
       {stream{.size = 1000, .count = 500, .hz = 500}, stream{.size = 20'000, .count = 100, .hz = 100},
        stream{.size = 100'000, .count = 40, .hz = 20}}) {
    INFO(name << ", " << what.size << " bytes");
    std::string why;
    // New hosts each time: what is left of datagrams, kernels keep for 30 s, and then have no room for more.
    const auto hosts = two_hosts::make(why, two_hosts::cable::bad_link);
    if (!hosts) return skip(why);
    hosts->link().set(bad);
    const auto [orc, lcm] = deliver(url, *hosts, what);
    std::printf("bad link, %s: %zu bytes: ORC %.1f %%, liblcm %.1f %% (%u wrong, %u twice, %u backwards)\n",
                name.c_str(), what.size, percent(orc, what), percent(lcm, what), lcm.wrong, lcm.twice, lcm.backwards);
  }
}

using std::chrono::milliseconds;

}  // namespace

TEST_CASE("bad link: 1 % of the frames lost", "[interop]") { endure("1 % lost", {.loss = 0.01}); }
TEST_CASE("bad link: 5 % of the frames lost", "[interop]") { endure("5 % lost", {.loss = 0.05}); }
TEST_CASE("bad link: 20 % of the frames lost", "[interop]") { endure("20 % lost", {.loss = 0.2}); }
TEST_CASE("bad link: frames overtake each other", "[interop]") {
  endure("overtaking", {.overtake = 0.25, .delay = milliseconds(10)});
}
TEST_CASE("bad link: frames come twice", "[interop]") { endure("twice", {.duplicate = 0.2}); }
TEST_CASE("bad link: frames come twice, and some are lost", "[interop]") {
  endure("twice, 1 % lost", {.loss = 0.01, .duplicate = 0.2});
}
TEST_CASE("bad link: delays of 0 to 100 ms", "[interop]") {
  endure("50 ms jitter", {.delay = milliseconds(50), .jitter = milliseconds(50)});
}

TEST_CASE("bad link: an LCM program's channels are not mixed up where frames are lost", "[interop]") {
  std::string why;
  const auto hosts = two_hosts::make(why, two_hosts::cable::bad_link);
  if (!hosts) return skip(why);
  hosts->link().set({.loss = 0.005, .duplicate = 0.01, .overtake = 0.9, .delay = milliseconds(2)});
  constexpr std::size_t size = 70'000;  // two datagrams, the first of which names the channel
  peer receiver(kind::orc, "receive", {url, channel}, hosts->on(host::b));
  const peer sender =
      send(kind::lcm, url, "other," + channel + ",third", {.life = 1, .size = size, .hz = 50}, hosts->on(host::a));
  std::uint32_t last = 0;
  for (int n = 0; n < 20; ++n) {
    const auto got = receiver.next();
    REQUIRE(got);
    CHECK(is_told(*got, size));
    CHECK(got->life == 2);
    CHECK(got->number > last);
    last = got->number;
  }
}

TEST_CASE("bad link: 1 MB arrives with forward error correction where 5 % of the frames are lost", "[interop]") {
  const stream what{.size = 1'000'000, .count = 100, .hz = 20};
  const auto over_new_cable = [&](const std::string& orc_url, bool one_way) -> std::optional<both> {
    std::string why;
    const auto hosts = two_hosts::make(why, two_hosts::cable::bad_link);
    if (!hosts) return skip(why), std::nullopt;
    hosts->link().set({.loss = 0.05, .one_way = one_way});
    return deliver(orc_url, *hosts, what, !one_way);
  };
  // Where no report gets back, nothing is repaired: what arrives is the code's merit.
  const auto coded = over_new_cable(url + "&fec=20", true);
  const auto plain = over_new_cable(url, true);
  const auto repaired = over_new_cable(url, false);
  if (!coded || !plain || !repaired) return;
  std::printf(
      "bad link, 5 %% lost: 1 MB: ORC with fec=20 %.1f %%, without it %.1f %%, both without repair; with repair alone "
      "%.1f %%; liblcm %.1f %%\n",
      percent(coded->orc, what), percent(plain->orc, what), percent(repaired->orc, what), percent(coded->lcm, what));
  CHECK(percent(coded->orc, what) >= 99);
}
