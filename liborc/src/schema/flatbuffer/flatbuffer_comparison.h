// Whether programs with two versions of a FlatBuffers table read each other's bytes in the same sense.
#pragma once

#include <string>

#include "schema/flatbuffer/flatbuffer_schema.h"
#include "schema/sentences.h"

namespace orc::detail {

// Returns the first difference, by ascending ids of fields. The rules are those of `flatc --conform` in both
// directions, and what its verifier demands: a field that both have keeps its id, type, default and `required`; a field
// that only one has is not required; structs are equal; a name that two versions of an enum have stands for the same
// number; a number that two versions of a union have stands for the same type. Tables, structs and enums keep their
// names.
[[nodiscard]] difference compare_flatbuffers(const flatbuffer_types& published, const flatbuffer_types& expected,
                                             const sentences& words);

}  // namespace orc::detail
