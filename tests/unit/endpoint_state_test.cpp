// What a subscription says of each endpoint of its publication.
#include "core/links/endpoint_state.h"

#include <cerrno>
#include <chrono>
#include <string>

#include "base/text/printable.h"
#include "support/catch.h"

using namespace orc::detail;
using namespace std::chrono_literals;
namespace wire = orc::wire;

namespace {

const monotonic::time_point start = monotonic::time_point() + 1h;
const wire::endpoint over_tcp{wire::transport::tcp, "tcp://10.77.0.2:41901"};
const wire::endpoint over_multicast{wire::transport::multicast,
                                    "udpm://239.255.76.67:7667?ttl=1&from=10.77.0.2:41000&source=41001"};

endpoint_state asked(const wire::endpoint& where) {
  endpoint_state w{.where = where};
  w.ask(start);
  return w;
}

std::string failed(int error) {
  endpoint_state w = asked(over_tcp);
  w.fail({link_end::cause::network, error});
  return w.text(start, false);
}

}  // namespace

TEST_CASE("way: a silent one is named with its address, the time and the likely cause", "[unit]") {
  CHECK(asked(over_tcp).text(start, false) == "tcp 10.77.0.2:41901: no answer yet");
  CHECK(asked(over_tcp).text(start + 2100ms, false) ==
        "tcp 10.77.0.2:41901: no answer for 2.1 s: firewall, or the host is down?");
  CHECK(asked(over_tcp).text(start + 2100ms, true) ==
        "tcp 10.77.0.2:41901: connected, no ORC publisher answers for 2.1 s: its program is stopped, or another one?");
  CHECK(asked(over_multicast).text(start + 2s, false) ==
        "multicast 239.255.76.67:7667: no sample or announcement heard for 2.0 s: a firewall, or a switch that keeps "
        "multicast from this host?");
}

TEST_CASE("way: each error of the network has its own text", "[unit]") {
  CHECK(failed(ECONNREFUSED) ==
        "tcp 10.77.0.2:41901: connection refused: no program listens there, or a firewall rejects it");
  CHECK(failed(ETIMEDOUT) == "tcp 10.77.0.2:41901: no answer: firewall, or the host is down?");
  CHECK(failed(ENETUNREACH) == "tcp 10.77.0.2:41901: no route (Network is unreachable)");
  CHECK(failed(EHOSTUNREACH).find("host is down, or a firewall rejects it (No route to host)") != std::string::npos);
  CHECK(failed(EPERM).find("not permitted") != std::string::npos);
  CHECK(failed(EACCES).find("not permitted") != std::string::npos);
  CHECK(failed(EMFILE).find("ulimit -n") != std::string::npos);
  endpoint_state full = asked(over_tcp);
  full.fail({link_end::cause::no_room});
  CHECK(full.text(start, false) == "tcp 10.77.0.2:41901: the publisher refused: it has no room for more subscribers");
}

TEST_CASE("way: the last outcome is told until a new attempt has been silent for a while", "[unit]") {
  endpoint_state w = asked(over_tcp);
  w.fail({link_end::cause::network, ECONNREFUSED});
  w.ask(start + 10s);
  CHECK(w.text(start + 10s + 100ms, false).find("connection refused") != std::string::npos);
  CHECK(w.text(start + 11s, false).find("no answer for 1.0 s") != std::string::npos);
}

TEST_CASE("way: what is not tried says why", "[unit]") {
  const endpoint_state ipc{.where = {wire::transport::ipc, {}}, .stands = endpoint_state::standing::not_asked_for};
  const endpoint_state shm{.where = {wire::transport::shm, {}}, .stands = endpoint_state::standing::not_offered};
  CHECK(ipc.text(start, false) == "ipc: not asked for");
  CHECK(shm.text(start, false) == "shm: not offered");
}

// Else the counters would show anybody what listens on other hosts, one endpoint after the other.
TEST_CASE("way: others see the same of every way that is not up", "[unit]") {
  const endpoint_state untried{.where = over_tcp};
  endpoint_state refused = asked(over_tcp);
  refused.fail({link_end::cause::network, ECONNREFUSED});
  endpoint_state stranger = asked(over_tcp);
  stranger.fail({link_end::cause::other_publication});
  endpoint_state impossible{.where = over_tcp};
  impossible.fail("no such socket");
  for (const auto& each : {untried, asked(over_tcp), refused, stranger, impossible})
    CHECK(each.public_text() == "tcp: not reachable");
}

TEST_CASE("way: an address from a stranger stays UTF-8 where it is cut", "[unit]") {
  for (const std::string start_of : {"", "x"}) {
    std::string path = start_of;
    for (int n = 0; n < 200; ++n) path += "\u00e9";
    const endpoint_state w{.where = {wire::transport::ipc, "ipc://" + path}};
    const std::string text = w.text(start, false);
    for (std::size_t at = 0; at < text.size();) {
      const auto length = orc::detail::utf8_length(std::string_view(text).substr(at));
      REQUIRE(length != 0);
      at += length;
    }
  }
}

TEST_CASE("way: an address from a stranger is short and printable", "[unit]") {
  const endpoint_state w{.where = {wire::transport::ipc, "ipc:///\x1b[2J" + std::string(10'000, 'x')}};
  const std::string text = w.text(start, false);
  CHECK(text.size() < 300);
  CHECK(text.find('\x1b') == std::string::npos);
}
