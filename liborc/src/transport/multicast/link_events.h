// The events of an end of a multicast topic besides samples: one socket and a timer, behind one descriptor.
#pragma once

#include "base/clock.h"
#include "base/files/unique_fd.h"

namespace orc::detail::multicast {

// Not thread-safe. No call blocks.
class link_events {
 public:
  // Watches `socket` for input. False: no descriptors are left.
  [[nodiscard]] bool open(int socket) noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(events_); }

  // Readable when there is an event. Constant.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }

  // Stops and resumes watching the socket for input.
  void watch_for_input(bool wanted) noexcept;
  // Starts and stops watching another socket for room.
  void watch_for_room(int socket, bool wanted) noexcept;
  // Makes the descriptor readable from then on; time_point::max(): never by itself.
  void wake_at(monotonic::time_point when) noexcept;

  struct ready {
    bool input = false;
    bool room = false;
  };
  // The events that happened. Reading them ends the timer's event.
  [[nodiscard]] ready take() noexcept;

 private:
  int socket_ = -1;
  unique_fd timer_;
  unique_fd events_;
};

}  // namespace orc::detail::multicast
