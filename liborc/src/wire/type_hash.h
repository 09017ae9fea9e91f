// The hash of a type description: schemas/PROTOCOL.md, "Type descriptions".
#pragma once

#include <cstdint>

#include "wire/control.h"

namespace orc::wire {

// Returns the first 8 bytes, little-endian, of SHA-256 over name, encoding and schema, each preceded by its length as a
// little-endian u64. Ignores the hash in `type`. Any thread.
[[nodiscard]] std::uint64_t type_hash(const type_description& type) noexcept;

}  // namespace orc::wire
