// Notices changes of this host's addresses or routes (rtnetlink): a DHCP lease, a plugged cable, a VPN. It does not
// report what changed.
#pragma once

#include <chrono>

#include "base/clock.h"
#include "base/files/unique_fd.h"

namespace orc::detail {

// Not thread-safe: one thread owns it.
class address_watch {
 public:
  // A change comes as several messages. It waits until none came for `quiet`, but not for longer than `longest`:
  static constexpr std::chrono::milliseconds quiet{100};
  static constexpr std::chrono::milliseconds longest{500};

  // Readable when something changed. -1: out of descriptors, or the program may not have such a socket.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  // Once a second: opens the socket if it is not open. While it cannot be opened, each call counts as a change.
  void tick(monotonic::time_point now) noexcept;
  // Reads the messages that came. Reads a flood in parts.
  void step(monotonic::time_point now) noexcept;

  // When to look at the change that came; call done() then. time_point::max(): nothing changed.
  [[nodiscard]] monotonic::time_point due() const noexcept { return due_; }
  void done() noexcept { due_ = since_ = monotonic::time_point::max(); }

 private:
  void note(monotonic::time_point now) noexcept;

  unique_fd socket_;
  monotonic::time_point since_ = monotonic::time_point::max();  // of the first change that done() did not cover
  monotonic::time_point due_ = monotonic::time_point::max();
};

}  // namespace orc::detail
