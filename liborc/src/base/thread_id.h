// The kernel's number of the calling thread.
#pragma once

#include <cstdint>

namespace orc::detail {

// 0: not asked for yet. Every lock reads it, so it must not cost a call as thread-local memory of a shared library does.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint32_t known_thread_id;

[[nodiscard]] std::uint32_t ask_for_thread_id() noexcept;

// Right also in the child of a fork(). Never 0.
[[nodiscard]] inline std::uint32_t thread_id() noexcept {
  return known_thread_id != 0 ? known_thread_id : ask_for_thread_id();
}

}  // namespace orc::detail
