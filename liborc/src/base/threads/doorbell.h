// Wakes waiting threads: by futex those that wait for nothing else, by eventfd those that also poll descriptors.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace orc::detail {

// Use: clear (when fd() was made), take a ticket, look for what you wait for, then wait with the ticket. A ring after
// the ticket was taken ends the wait. Any thread may call any function, but only one thread at a time may clear and be
// in wait_or_readable.
class doorbell {
 public:
  doorbell() = default;
  ~doorbell();
  doorbell(const doorbell&) = delete;
  doorbell& operator=(const doorbell&) = delete;

  [[nodiscard]] std::uint32_t ticket() const noexcept { return rings_.load(); }

  // Never blocks. Makes no system call unless a thread waits or the descriptor exists.
  void ring() noexcept;

  // Waits until a ring after `ticket` or the deadline. May return early.
  void wait(std::uint32_t ticket, const deadline& until) noexcept;

  // Waits until the bell or `other_fd` is readable, or the deadline. May return early. fd() must have been made.
  void wait_or_readable(int other_fd, const deadline& until) noexcept;

  // Readable from a ring until clear(). Made on first use; -1 (errno) when out of descriptors.
  [[nodiscard]] int fd() noexcept;
  // Makes no system call unless the bell was rung.
  void clear() noexcept;

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<int> fd_{-1};
  std::atomic<bool> readable_{false};
};

}  // namespace orc::detail
