// UTF-8, which all texts of MCAP are.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace orc::recording::detail {

// The text, with \xNN for each byte that is not UTF-8 (RFC 3629).
[[nodiscard]] std::string utf8_of(std::string_view text);
[[nodiscard]] std::map<std::string, std::string> utf8_of(const std::map<std::string, std::string>& entries);

}  // namespace orc::recording::detail
