// Bytes as text in JSON (RFC 4648, section 4). Every function may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orc::detail {

// With padding.
[[nodiscard]] std::string base64(std::string_view bytes);

// Nothing: the text is not base64. Padding may be missing.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace orc::detail
