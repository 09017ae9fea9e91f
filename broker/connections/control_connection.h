// The broker's end of one connection: ZMTP 3 between a ROUTER and a DEALER, with the rules and limits of
// schemas/PROTOCOL.md, "Connection".
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "wire/control.h"
#include "zmtp/zmtp_connection.h"

namespace orc {

// Not thread-safe. No call blocks or raises SIGPIPE.
class control_connection : public detail::zmtp_connection {
 public:
  using clock = std::chrono::steady_clock;
  using detail::zmtp_connection::event;
  using detail::zmtp_connection::readable;

  // router: serves a DEALER. dealer: asks the ROUTER of another broker. The peer's Identity is ignored.
  explicit control_connection(detail::unique_fd fd, role as = role::router)
      : zmtp_connection(std::move(fd), {.as = as, .largest = wire::max_control_bytes}) {}

  // Receives the next item, at most one. `message` is valid until the next call. Keeps at most max_buffered bytes.
  [[nodiscard]] event receive(std::span<const std::byte>& message, clock::time_point now) noexcept {
    received got;
    std::size_t budget = SIZE_MAX;
    const event what = next(got, budget);
    if (what == event::command && too_many_commands(now)) return broken("too many commands");
    if (what == event::frame && (got.flags & wire::zmtp::more) != 0) return broken("a message of several frames");
    message = got.bytes;
    return what;
  }
  static constexpr std::size_t max_buffered = 96 * 1024;

 private:
  static constexpr unsigned commands_per_second = 200;  // a heartbeat (PING) every 5 ms

  [[nodiscard]] bool too_many_commands(clock::time_point now) noexcept {
    if (now - commands_from_ >= std::chrono::seconds(1)) {
      commands_from_ = now;
      commands_ = 0;
    }
    return ++commands_ > commands_per_second;
  }

  unsigned commands_ = 0;  // since commands_from_
  clock::time_point commands_from_{};
};

}  // namespace orc
