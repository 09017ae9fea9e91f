// For loops that wait without sleeping.
#pragma once

namespace orc::detail {

// Between two reads of the clock, which costs more than a look.
inline constexpr int looks_per_clock = 64;

// Between two looks: lets the core do something else.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace orc::detail
