// Memory of the largest frames. malloc maps a block of 32 MiB or more anew each time, and the kernel clears each of its
// pages: for a sample of 100 MB that takes several times as long as copying it. So a few blocks stay for the next
// samples, until none has come for a while.
#pragma once

#include <array>
#include <cstddef>

#include "base/clock.h"
#include "base/threads/pi_mutex.h"

namespace orc::detail {

// Any thread. No call waits: while another thread is inside, memory comes from the system and goes back there.
class frame_memory {
 public:
  static constexpr std::size_t from_bytes = 32 * 1024 * 1024;  // smaller blocks are malloc's
  static constexpr std::size_t max_spare = 4;
  static constexpr std::chrono::seconds kept_for{2};

  struct block {
    std::byte* at = nullptr;  // the start of a page; null: no memory
    std::size_t size = 0;
  };

  // That of this process, for all topics.
  [[nodiscard]] static frame_memory& of_process() noexcept;

  // Returns a block of at least `size` bytes, with any content.
  [[nodiscard]] block take(std::size_t size) noexcept;
  void give_back(block unused) noexcept;
  // Returns to the system what nobody has taken for a while. The housekeeping calls it once a second.
  void tidy(monotonic::time_point now) noexcept;

 private:
  struct spare {
    block what;
    monotonic::time_point since;
  };

  pi_mutex mutex_;
  std::array<spare, max_spare> spare_{};
};

}  // namespace orc::detail
