// JSON of the tools and the benchmarks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orc {

// Keeps the members in the order in which they were added. A file that makes or reads one includes nlohmann/json.hpp.
using json_value = nlohmann::ordered_json;

// Writes one line of valid JSON: bytes that are not UTF-8 become U+FFFD, infinite numbers and NaN become null.
// Characters on which a terminal acts are escaped (\u009b).
[[nodiscard]] std::string to_text(const json_value& value);

// Reads JSON that this program wrote. Throws std::invalid_argument: it is none.
[[nodiscard]] json_value json_of_own(const std::string& text);

// Writes results as a list, one object per line, with at most three decimals.
[[nodiscard]] std::string to_json(const std::vector<json_value>& results);

// Writes a file; "-" is stdout. False: the file cannot be written (errno has the reason).
[[nodiscard]] bool write_text(const std::string& path, const std::string& text);

}  // namespace orc
