// Reads and writes JSON. nlohmann's parser and serializer take seconds in each file that calls them, so only
// json_io.cpp does. A file that looks into a value includes nlohmann/json.hpp itself. Every function may be called from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace orc::detail {

// Objects and arrays within each other: a copy of a much deeper value would overflow the stack.
inline constexpr std::size_t max_json_depth = 64;
// For text that this program wrote itself: it may also weigh anything.
inline constexpr std::size_t any_json_depth = SIZE_MAX;
// A value takes many times the memory of its text: 64 MiB at this weight, 128 MiB while an array grows.
inline constexpr std::size_t max_json_weight = std::size_t{1} << 22;

// Bounds what reading a text costs, without reading it: 1 for each element, 8 more for each text, array and object.
// Ends early when the weight is more than `most`.
[[nodiscard]] std::size_t json_weight(std::string_view text, std::size_t most = max_json_weight) noexcept;

struct json_problem {
  bool is_too_deep = false;
  std::string text;  // what nlohmann says: "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
};

// Reads one value, with nothing but white space around it; of a name that an object has twice, the last value counts.
// Returns why the text is none, or nothing. Text above max_json_weight is not read. Throws std::bad_alloc only. When
// the value is too deep and nothing else is wrong, what is deeper is discarded in `found`; after any other failure it
// is unspecified.
[[nodiscard]] std::optional<json_problem> read_json(std::string_view text, nlohmann::json& found,
                                                    std::size_t max_depth = max_json_depth);
[[nodiscard]] std::optional<json_problem> read_json(std::string_view text, nlohmann::ordered_json& found,
                                                    std::size_t max_depth = max_json_depth);

// Writes a value on one line. Bytes that are not UTF-8 become U+FFFD, infinite numbers and NaN become null.
[[nodiscard]] std::string write_json(const nlohmann::json& value);
[[nodiscard]] std::string write_json(const nlohmann::ordered_json& value);

// The same in ASCII: other characters become \u00fc.
[[nodiscard]] std::string write_ascii_json(const nlohmann::json& value);
[[nodiscard]] std::string write_ascii_json(const nlohmann::ordered_json& value);

// The same as write_json(). Nothing: a text in it is not UTF-8.
[[nodiscard]] std::optional<std::string> write_utf8_json(const nlohmann::json& value);

}  // namespace orc::detail
