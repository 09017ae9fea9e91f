// Samples as JSON, and JSON as samples.
//
// Names are those of the schema. Integers are exact, up to 64 bits. float32 and float64 have as few digits as identify
// them; NaN and the infinities are the texts "nan", "inf" and "-inf". Enumerations are their names, or their number
// when it has no name. Arrays of char are texts. uint8 arrays and protobuf's bytes are arrays of numbers. Bytes that
// are not UTF-8 become U+FFFD. The entries of a protobuf map are the fields of an object. Unions of FlatBuffers are two
// fields, `name_type` and `name`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/result.h"
#include "orc/types/decoder.h"

namespace orc::types {

struct json_options {
  bool pretty = false;   // two spaces per level; arrays of numbers stay on one line
  std::size_t fold = 0;  // arrays longer than this end after so many elements with a text: "… 997 more"; 0: never
  bool units = false;    // fields with a unit become {"value":…,"unit":"rad"}
  std::size_t max_bytes = std::size_t{64} << 20;  // of the JSON
};

// The largest sample that from_json() makes, unless the caller sets another limit. A few bytes of JSON can ask for it:
// an LCM array without its elements has zeros.
inline constexpr std::size_t max_encoded_bytes = std::size_t{256} << 20;

// Writes the sample as JSON, in UTF-8 and without a line end. `out` is replaced, and holds a part when it fails.
// - bad_argument: as decoder::walk(), or the JSON would be longer than max_bytes.
result to_json(const decoder& type, std::span<const std::byte> sample, const json_options& options, std::string& out);

// The same for the value at `path` alone; "null" when the sample does not have it.
result to_json(const decoder& type, std::span<const std::byte> sample, const field_path& path,
               const json_options& options, std::string& out);

// Makes a sample from JSON, ready to be published: what to_json() writes (without fold and units) gives the same
// values. Fields that are missing or null are zero, empty, or the schema's default. Lengths of LCM arrays follow from
// the arrays, so their fields may be missing. Enumerations take names and numbers. `sample` is replaced if the result
// is ok, else untouched.
// - bad_argument: this is not JSON; a name is unknown; a value has the wrong type or is out of range; an array of fixed
//   size has another size; the sample would be larger than `max_bytes`, or another limit is violated. The message has
//   the path.
result from_json(const decoder& type, std::string_view text, std::vector<std::byte>& sample,
                 std::size_t max_bytes = max_encoded_bytes);

}  // namespace orc::types
