// A type description as the datagrams of kind `type` carry it, in pieces: name, schema encoding, message encoding and
// schema, each preceded by its length as a u32. schemas/PROTOCOL.md, "ORC's datagrams". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "orc/type_description.h"

namespace orc::detail::multicast {

[[nodiscard]] std::string write_type(const type_description& type);
// Empty when the lengths do not fit the bytes.
[[nodiscard]] std::optional<type_description> read_type(std::string_view bytes);

}  // namespace orc::detail::multicast
