// A received sample that stays in its slot: what keeps the slot from being used again.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/process.h"
#include "core/unique_fd.h"
#include "orc/message.h"
#include "transport/shm/slot_reader.h"

namespace orc::detail::shm {

// The socket to the publication. Whoever lets go of it last ends it, also for a forked child that holds a copy.
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

// What a subscription has of a publication. Lives as long as the link or a message of it: while the socket is open the
// publisher respects the pins in the page.
class attachment {
 public:
  attachment(std::shared_ptr<const shared_socket> socket, mapping page, std::uint32_t pins) noexcept
      : socket_(std::move(socket)),
        page_(std::move(page)),
        free_(pins == most_pins ? ~std::uint64_t{0} : (std::uint64_t{1} << pins) - 1) {}

  [[nodiscard]] reader_page& page() const noexcept { return *reinterpret_cast<reader_page*>(page_.bytes()); }

  // A pin that is not in use. Nothing: the user holds as many messages as he may. Any thread.
  [[nodiscard]] std::optional<std::uint32_t> claim() noexcept {
    std::uint64_t free = free_.load(std::memory_order_relaxed);
    while (free != 0) {
      const std::uint64_t lowest = free & (~free + 1);
      if (free_.compare_exchange_weak(free, free & ~lowest, std::memory_order_acquire))
        return static_cast<std::uint32_t>(std::countr_zero(lowest));
    }
    return std::nullopt;
  }
  void release(std::uint32_t pin) noexcept { free_.fetch_or(std::uint64_t{1} << pin, std::memory_order_release); }

  // After fork() the child shares the page, but the pins are the parent's.
  [[nodiscard]] bool inherited() const noexcept { return generation_ != fork_generation(); }

 private:
  std::shared_ptr<const shared_socket> socket_;
  mapping page_;
  std::atomic<std::uint64_t> free_;  // one bit per pin
  const unsigned generation_ = fork_generation();
};

// The message's buffer: owns a pin of `by`, which is set already.
[[nodiscard]] sample_buffer pinned_buffer(std::shared_ptr<attachment> by, std::shared_ptr<const segment> in,
                                          const pinned_sample& what, std::uint32_t pin) noexcept;

}  // namespace orc::detail::shm
