// Memory of a replayed program's messages and loans: its own, with the alignment of a slot of shared memory or more.
#pragma once

#include <cstddef>
#include <span>

#include "orc/message.h"

namespace orc::detail {

// A copy of the bytes, which nothing shares. False when there is no memory.
[[nodiscard]] sample_buffer replayed_sample(std::span<const std::byte> bytes) noexcept;
// The same with zeros.
[[nodiscard]] sample_buffer replayed_memory(std::size_t size) noexcept;

}  // namespace orc::detail
