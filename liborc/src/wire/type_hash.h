// What stands for a type description: schemas/PROTOCOL.md, "Type descriptions".
#pragma once

#include <cstdint>

#include "wire/control.h"

namespace orc::wire {

// The first 8 bytes, little-endian, of SHA-256 over name, encoding and schema, each behind its length as a
// little-endian u64. The hash that `type` carries plays no part. Any thread.
[[nodiscard]] std::uint64_t type_hash(const type_description& type) noexcept;

}  // namespace orc::wire
