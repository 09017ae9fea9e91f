// Bytes as base64 (RFC 4648, section 4), in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orc::detail {

[[nodiscard]] std::string base64(std::string_view bytes);
// Nothing: it is not base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace orc::detail
