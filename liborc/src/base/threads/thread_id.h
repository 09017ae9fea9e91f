// The kernel's number of the calling thread.
#pragma once

#include <cstdint>

namespace orc::detail {

// 0: not asked for yet. Every lock reads it, so the model spares the call of thread-local memory in a shared library.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint32_t known_thread_id;

[[nodiscard]] std::uint32_t ask_for_thread_id() noexcept;

// Right also in the child of a fork(). Never 0.
[[nodiscard]] inline std::uint32_t thread_id() noexcept {
  return known_thread_id != 0 ? known_thread_id : ask_for_thread_id();
}

}  // namespace orc::detail
