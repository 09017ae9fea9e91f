// JSON as the tools and the benchmarks write it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace orc {

// Its members stay in the order in which they were added.
using json_value = nlohmann::ordered_json;

// On one line. Bytes that are not UTF-8 become U+FFFD, numbers that are not finite null: the text is always valid.
[[nodiscard]] std::string to_text(const json_value& value);

// Results as a list with one object on each line; numbers with three decimals at most.
[[nodiscard]] std::string to_json(const std::vector<json_value>& results);

// "-" is stdout. False when the file cannot be written (errno says why).
[[nodiscard]] bool write_text(const std::string& path, const std::string& text);

}  // namespace orc
