// What the parts of lcm_echo share: the implementations, and what the source tells its clients.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "tools/support/summary.h"

namespace orc::bench {

enum class implementation : char { orc, lcm, udp };

[[nodiscard]] constexpr const char* name_of(implementation which) noexcept {
  return which == implementation::orc ? "ORC" : which == implementation::lcm ? "liblcm" : "bare UDP";
}

struct echo_options {
  std::vector<std::size_t> rates;
  std::vector<int> clients{1, 2, 4};
  std::size_t size = 800;
  int repetitions = 3;
  double seconds = 1;
  int port = 17'667;  // and the three above it
  common_options common;

  // Both with the receive buffer of the paper; each implementation has a port of its own.
  [[nodiscard]] std::string url(implementation which) const {
    return "udpm://" + group() + ":" + std::to_string(port + static_cast<int>(which)) + "?ttl=0&recv_buf_size=2097152";
  }
  [[nodiscard]] static std::string group() { return "239.255.76.67"; }
};

// Serve one trial: echo until told to stop by a message that is too short to be one.
struct order {
  implementation which = implementation::orc;
  bool ping_pong = false;  // with the ends of ping_pong.h; else those of the echo test
  std::size_t size = 0;
  int client = 0;
};
enum class state : char { ready, failed, done };

// A client process, as its source sees it.
struct client {
  channel line;
  detail::child_process process;
};

// ---- the echo test: lcm_echo_rates.cpp ----

// One trial.
struct echoed {
  double sent_hz = 0;
  double echoes_mb_s = 0;  // echoes that came back, each counted once
  double loss = 0;         // share of the echoes that did not
  summary round_trip;      // of those that did
};

[[nodiscard]] echoed echo_trial(const echo_options& o, implementation which, const std::vector<client*>& clients,
                                double hz);
[[nodiscard]] bool serve_echo_trial(const echo_options& o, const order& what, channel& line);

// ---- the floor: lcm_echo_floor.cpp ----

[[nodiscard]] summary ping_pong_trial(const echo_options& o, implementation which, client& with);
[[nodiscard]] bool serve_ping_pong_trial(const echo_options& o, const order& what, channel& line);

}  // namespace orc::bench
