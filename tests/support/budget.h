// How much a test may do: the default run fits into CI, sanitizers do less of the same, ORC_TEST_LONG=1 does all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>

namespace orc::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif
#else
inline constexpr bool under_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
inline constexpr bool under_address_sanitizer = under_sanitizer && !under_thread_sanitizer;

// For conditions that must come true: long enough for a loaded machine under a sanitizer, so running into it is a
// failure and not a slow day.
inline constexpr std::chrono::milliseconds patience{under_sanitizer ? 60'000 : 30'000};
inline constexpr int patience_ms = static_cast<int>(patience.count());

[[nodiscard]] inline bool long_run() {
  static const bool wanted = [] {
    const char* text = std::getenv("ORC_TEST_LONG");
    return text != nullptr && *text != '\0' && *text != '0';
  }();
  return wanted;
}

// Iterations: `usual` in the default run, a tenth (at least `least`) under a sanitizer, `full` with ORC_TEST_LONG=1.
[[nodiscard]] inline std::size_t rounds(std::size_t usual, std::size_t full, std::size_t least = 10) {
  std::size_t n = long_run() ? full : usual;
  if (under_sanitizer) n /= 10;
  return n < least ? least : n;
}

}  // namespace orc::test
