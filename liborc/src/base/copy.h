// Large copies, and what makes them slow on some processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace orc::detail {

inline constexpr std::size_t page_bytes = 4096;

// On some processors `rep movsb` takes 20 times as long when its target lies 1 to 15 bytes behind its source, modulo
// the page. The C library copies more than about 2 kB in this way, the kernel everything between a program and a
// socket. liborc/doc/design/large-samples.md has the figures.
[[nodiscard]] constexpr bool copies_slowly(std::uintptr_t from, std::uintptr_t to) noexcept {
  return (to - from) % page_bytes - 1 < 15;
}

// Same as memcpy, but in pieces that the C library copies in another way when that is faster.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  constexpr std::size_t piece = 1024;
  if (size <= piece || !copies_slowly(reinterpret_cast<std::uintptr_t>(from), reinterpret_cast<std::uintptr_t>(to))) {
    if (size != 0) std::memcpy(to, from, size);
    return;
  }
  for (std::size_t done = 0; done < size; done += piece)
    std::memcpy(to + done, from + done, std::min(piece, size - done));
}

}  // namespace orc::detail
