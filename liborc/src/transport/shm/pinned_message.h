// A received sample that stays in its slot, and the pin that keeps the slot from being reused.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/files/unique_fd.h"
#include "base/process/fork_generation.h"
#include "orc/message.h"
#include "transport/shm/slot_reader.h"

namespace orc::detail::shm {

// The socket to the publication. The last owner ends it, also when a forked child holds a copy.
class shared_socket {
 public:
  explicit shared_socket(unique_fd fd) noexcept : fd_(std::move(fd)) {}
  ~shared_socket() {
    if (generation_ == fork_generation()) ::shutdown(fd_.get(), SHUT_RDWR);
  }
  shared_socket(const shared_socket&) = delete;
  shared_socket& operator=(const shared_socket&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_.get(); }

 private:
  unique_fd fd_;
  const unsigned generation_ = fork_generation();
};

// A subscription's attachment to a publication. Lives as long as the link or a message of it: while the socket is open,
// the publisher respects the pins in the page.
class attachment {
 public:
  attachment(std::shared_ptr<const shared_socket> socket, mapping page, std::uint32_t pins) noexcept
      : socket_(std::move(socket)), page_(std::move(page)), pins_(pins) {}

  [[nodiscard]] reader_page& page() const noexcept { return *reinterpret_cast<reader_page*>(page_.bytes()); }

  // Returns an unused pin, except the last `kept_back` ones. Null: the user holds as many messages as allowed. The
  // subscription serialises calls; any thread may drop messages meanwhile.
  [[nodiscard]] std::atomic<std::uint32_t>* free_pin(std::uint32_t kept_back) const noexcept {
    for (std::uint32_t i = 0; i + kept_back < pins_; ++i) {
      auto& pin = page().pins[i];
      if (pin.load(std::memory_order_acquire) == 0) return &pin;
    }
    return nullptr;
  }

  // After fork() the child shares the page, but the pins are the parent's.
  [[nodiscard]] bool inherited() const noexcept { return generation_ != fork_generation(); }

 private:
  std::shared_ptr<const shared_socket> socket_;
  mapping page_;
  const std::uint32_t pins_;
  const unsigned generation_ = fork_generation();
};

// The objects that a message keeps alive.
struct view {
  std::shared_ptr<attachment> by;
  std::shared_ptr<const segment> in;
};

// Makes the message's buffer, which owns `pin` of `through.by`. The pin is already set.
[[nodiscard]] sample_buffer pinned_buffer(std::shared_ptr<const view> through, const pinned_sample& what,
                                          std::atomic<std::uint32_t>& pin) noexcept;

}  // namespace orc::detail::shm
