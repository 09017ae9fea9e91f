// Single numbers and texts of fixed size.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "encode_state.h"
#include "orc/schema.h"
#include "orc/types/visitor.h"

namespace orc::types::detail {

// Reads the number of this kind at `from`, and calls the visitor's function for it.
void visit_number(field_kind kind, const std::byte* from, bool swapped, visitor& to);

// Returns the text up to its first zero byte, or all of it.
[[nodiscard]] std::string_view fixed_text(std::span<const std::byte> bytes) noexcept;

// Copies a text into a field of `size` zero bytes. A text that is too long is an error.
bool store_fixed_text(std::string_view text, std::size_t size, std::byte* to, encode_state& state);

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace orc::types::detail
