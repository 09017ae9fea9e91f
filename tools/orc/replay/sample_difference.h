// Two samples of one topic, compared field by field.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "orc/types/decoder.h"

namespace orc::cli {

// Returns the first difference, for people: "field tau[3] was 0.512, is 0.498". Without a decoder, or when a sample
// cannot be decoded: the first byte that differs. Nothing: all fields are equal, and only bytes that belong to no field
// differ (padding of a struct). All texts are escaped.
[[nodiscard]] std::optional<std::string> first_difference(const types::decoder* type, std::span<const std::byte> then,
                                                          std::span<const std::byte> now);

}  // namespace orc::cli
