// Bounds the time that the Verifier of libflatbuffers takes for a binary schema.
#pragma once

#include <cstddef>
#include <string_view>

namespace orc::detail {

inline constexpr std::size_t max_flatbuffer_visits = 1 << 20;

// True when the Verifier looks at no more than max_flatbuffer_visits tables and elements of vectors. It looks at what
// is shared once for each reference. `bytes` may be anything.
[[nodiscard]] bool has_few_flatbuffer_visits(std::string_view bytes) noexcept;

}  // namespace orc::detail
