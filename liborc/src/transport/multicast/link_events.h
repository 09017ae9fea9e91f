// What wakes an end of a multicast topic beside samples: one socket, and a timer, behind one descriptor.
#pragma once

#include "core/clock.h"
#include "core/unique_fd.h"

namespace orc::detail::multicast {

// Not thread-safe. Nothing here blocks.
class link_events {
 public:
  // Watches `socket` for input. False: no descriptors are left.
  [[nodiscard]] bool open(int socket) noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(events_); }

  // Readable when there is an event. Constant.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }

  // Stops and resumes watching the socket for input.
  void watch_for_input(bool wanted) noexcept;
  // Watches another socket for room, or not any more.
  void watch_for_room(int socket, bool wanted) noexcept;
  // The descriptor is readable from then on; time_point::max(): not by itself.
  void wake_at(monotonic::time_point when) noexcept;

  struct ready {
    bool input = false;
    bool room = false;
  };
  // What happened. The timer's event ends with it.
  [[nodiscard]] ready take() noexcept;

 private:
  int socket_ = -1;
  unique_fd timer_;
  unique_fd events_;
};

}  // namespace orc::detail::multicast
