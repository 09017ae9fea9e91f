// Bytes as text (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orc::web {

// Appends the text, with padding.
void append_base64(std::string& to, std::string_view bytes);

// Nothing: the text is not base64. Padding may be missing.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace orc::web
