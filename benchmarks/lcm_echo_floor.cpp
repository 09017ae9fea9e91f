// One message at a time: ORC and liblcm beside bare UDP multicast.
#include <atomic>
#include <memory>
#include <stdexcept>

#include "benchmarks/lcm_echo.h"
#include "benchmarks/support/lcm_end.h"
#include "benchmarks/support/udp_end.h"
#include "tools/support/orc_end.h"
#include "tools/support/ping_pong.h"

namespace orc::bench {

namespace {

// Calls use(end) with an end of that implementation. ORC finds its network in ORC_MULTICAST.
template <class Use>
auto with_end(const echo_options& o, implementation which, bool echo, std::size_t size, Use use) {
  const std::string names[2] = {"ECHO_PING", "ECHO_PONG"};
  const std::string& out = names[echo ? 1 : 0];
  const std::string& in = names[echo ? 0 : 1];
  if (which == implementation::udp) {
    const auto port = static_cast<std::uint16_t>(o.port + static_cast<int>(which));
    const auto next = static_cast<std::uint16_t>(port + 1);
    udp_end end(o.group(), echo ? next : port, echo ? port : next);
    return use(end);
  }
  if (which == implementation::lcm) {
    lcm_end end(o.url(which), out, in);
    return use(end);
  }
  orc_end end("none", "lcm_echo", {out, in, orc::transport::multicast, size});
  if (const auto opened = end.open(); !opened) throw std::runtime_error(opened.error().message());
  return use(end);
}

}  // namespace

bool serve_ping_pong_trial(const echo_options& o, const order& what, channel& line) {
  return with_end(o, what.which, true, what.size, [&](auto& end) {
    line.put(state::ready);
    return echo(end, wait_mode::block, send_mode::copy);
  });
}

summary ping_pong_trial(const echo_options& o, implementation which, client& with) {
  with.line.put(order{which, true, o.size, 0});
  return with_end(o, which, false, o.size, [&](auto& end) {
    if (with.line.get<state>(2 * connect_within_ms) != state::ready)
      throw std::runtime_error("the client is not ready");
    std::vector<std::byte> payload(o.size, std::byte{0x5a});
    std::vector<std::int64_t> ns;
    ns.reserve(1'000'000);
    std::atomic<std::uint64_t> progress{0};
    bool complete = false;
    {
      const watchdog watch(progress, [&] { end.close(); });
      const auto some = [&](std::uint64_t n) { return ping(end, payload, n, wait_mode::block, progress, ns); };
      complete = warm_up_and_measure(some, o.seconds, 1'000'000, ns);
    }
    do {
      (void)end.send(nullptr, 0);  // ends the echo, when it is not lost
    } while (!with.line.readable(20) && !interrupted());
    if (!complete || with.line.get<state>() != state::done) throw std::runtime_error("a message did not come back");
    return summarize(ns);
  });
}

}  // namespace orc::bench
