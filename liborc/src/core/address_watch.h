// Notices that the addresses or the routes of this host change (rtnetlink): after a DHCP lease, a cable that was
// plugged in, a VPN. What changed is for others to find out.
#pragma once

#include <chrono>

#include "core/clock.h"
#include "core/unique_fd.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it.
class address_watch {
 public:
  // A change comes as several messages. They are waited for until none came for this long, but not for longer than:
  static constexpr std::chrono::milliseconds quiet{100};
  static constexpr std::chrono::milliseconds longest{500};

  // Readable when something changed; -1: out of descriptors, or this program may have no such socket.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  // Once a second: opens what could not be opened. Where it cannot, each call counts as a change.
  void tick(monotonic::time_point now) noexcept;
  // Reads what came. A flood is read in parts.
  void step(monotonic::time_point now) noexcept;

  // Something changed, and it is time to look; done() follows. The last moment there is: nothing did.
  [[nodiscard]] monotonic::time_point due() const noexcept { return due_; }
  void done() noexcept { due_ = since_ = monotonic::time_point::max(); }

 private:
  void note(monotonic::time_point now) noexcept;

  unique_fd socket_;
  monotonic::time_point since_ = monotonic::time_point::max();  // the first change that was not looked at
  monotonic::time_point due_ = monotonic::time_point::max();
};

}  // namespace orc::detail
