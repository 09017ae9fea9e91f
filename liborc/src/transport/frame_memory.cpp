#include "transport/frame_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

namespace orc::detail {

namespace {

constexpr std::size_t unmapped_at_once = 16 * 1024 * 1024;  // page faults of other threads wait meanwhile

// Samples of one stream differ in size: blocks come in four sizes between two powers of two.
[[nodiscard]] std::size_t rounded(std::size_t size) noexcept {
  const std::size_t step = std::bit_floor(size) / 4;
  return (size + step - 1) / step * step;
}

[[nodiscard]] frame_memory::block mapped(std::size_t size) noexcept {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {};
  return {static_cast<std::byte*>(at), size};
}

void unmap(frame_memory::block what) noexcept {
  while (what.size != 0) {
    const std::size_t part = std::min(what.size, unmapped_at_once);
    what.size -= part;
    ::munmap(what.at + what.size, part);
  }
}

}  // namespace

frame_memory& frame_memory::of_process() noexcept {
  static constinit frame_memory all;
  return all;
}

frame_memory::block frame_memory::take(std::size_t size) noexcept {
  size = rounded(size);
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    spare* best = nullptr;
    for (spare& each : spare_) {
      const bool fits = each.what.size >= size && each.what.size <= 2 * size;
      if (fits && (best == nullptr || each.what.size < best->what.size)) best = &each;
    }
    if (best != nullptr) return std::exchange(best->what, {});
  }
  return mapped(size);
}

void frame_memory::give_back(block unused) noexcept {
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    const auto oldest = std::min_element(spare_.begin(), spare_.end(), [](const spare& a, const spare& b) {
      return a.what.size == 0 ? b.what.size != 0 : b.what.size != 0 && a.since < b.since;
    });
    *oldest = {std::exchange(unused, oldest->what), monotonic::now()};
  }
  unmap(unused);
}

void frame_memory::tidy(monotonic::time_point now) noexcept {
  for (std::size_t n = 0; n < max_spare; ++n) {
    block idle;
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && now - spare_[n].since >= kept_for)
      idle = std::exchange(spare_[n].what, {});
    unmap(idle);
  }
}

}  // namespace orc::detail
