// One end of a ping-pong on bare shared memory, the floor under any transport: one buffer and one word each way, a
// futex or a spin on the word. No queue, no names, no checks, nobody may join, leave or die.
#pragma once

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tools/support/ping_pong.h"

namespace orc::bench {

// Memory of both directions, to be made before the fork.
class floor_memory {
 public:
  struct direction {
    alignas(64) std::atomic<std::uint32_t> word;  // counts samples
    std::atomic<std::uint32_t> closed;
    std::size_t size;
    alignas(64) std::byte first_byte;
    [[nodiscard]] std::byte* payload() noexcept { return &first_byte; }
  };

  explicit floor_memory(std::size_t largest) : size_((sizeof(direction) + largest + 4095) / 4096 * 4096) {
    at_ = ::mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::runtime_error("no shared memory");
  }
  ~floor_memory() { ::munmap(at_, 2 * size_); }
  floor_memory(const floor_memory&) = delete;
  floor_memory& operator=(const floor_memory&) = delete;
  [[nodiscard]] direction& way(int which) const noexcept {
    return *reinterpret_cast<direction*>(static_cast<std::byte*>(at_) + static_cast<std::size_t>(which) * size_);
  }

 private:
  std::size_t size_;
  void* at_;
};

class floor_end {
 public:
  using message = message_view;

  floor_end(floor_memory& memory, int out) noexcept
      : out_(memory.way(out)), in_(memory.way(1 - out)), seen_(in_.word.load()) {}

  // Nobody sleeps on a word that is spun on, so nobody has to be woken.
  void wait_by(wait_mode mode) noexcept { mode_ = mode; }

  bool send(const std::byte* data, std::size_t size) noexcept {
    if (size != 0) std::memcpy(out_.payload(), data, size);
    return publish(size);
  }
  bool send_loaned(const std::byte* mark, std::size_t marked, std::size_t size) noexcept {
    std::memcpy(out_.payload(), mark, marked);
    return publish(size);
  }
  bool forward(message&& received) noexcept { return send(received.data(), received.size()); }

  message receive(wait_mode wait) noexcept {
    std::uint32_t now = 0;
    while ((now = in_.word.load(std::memory_order_acquire)) == seen_) {
      if (in_.closed.load(std::memory_order_relaxed) != 0) return {};
      if (wait == wait_mode::block)
        ::syscall(SYS_futex, &in_.word, FUTEX_WAIT, seen_, nullptr, nullptr, 0);
      else
        pause();
    }
    seen_ = now;
    return {in_.payload(), in_.size};
  }

  // From any thread: receive() returns a false message.
  void close() noexcept {
    in_.closed.store(1);
    ::syscall(SYS_futex, &in_.word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }

 private:
  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  bool publish(std::size_t size) noexcept {
    out_.size = size;
    out_.word.fetch_add(1, std::memory_order_release);
    if (mode_ == wait_mode::block) ::syscall(SYS_futex, &out_.word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    return true;
  }

  floor_memory::direction& out_;
  floor_memory::direction& in_;
  std::uint32_t seen_;
  wait_mode mode_ = wait_mode::block;
};

}  // namespace orc::bench
