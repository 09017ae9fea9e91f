// Schemas: reads them, compares them, and shows them.
//
// Any thread may call. Schemas come from other programs: each function bounds its time, memory and depth, and returns
// bad_argument for a schema that violates its format or a limit (schemas/PROTOCOL.md, "Types").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/result.h"
#include "orc/type_description.h"
#include "orc/version.h"

namespace orc {

// What one element of a field is.
enum class field_kind : std::uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  character,  // one byte of text; an array of them is a text of fixed size, which ends at its first zero byte
  string,     // UTF-8 text of any length
  wide_string,
  structure  // see schema_field::structure
};

// Returns the kind's name: "bool", "int8", …, "float64", "char", "string", "wstring", "struct".
[[nodiscard]] ORC_API std::string_view to_string(field_kind kind) noexcept;

// One dimension of an array.
struct dimension {
  std::size_t size = 0;     // elements; the bound of a variable dimension, 0: no bound
  bool variable = false;    // the number of elements is in the sample
  std::string length = {};  // lcm: the field that has the number of elements

  // Whether all fields are equal.
  bool operator==(const dimension&) const = default;
};

// A name for a number.
struct enum_value {
  std::string name = {};   // as the schema writes it
  std::int64_t value = 0;  // its number

  // Whether both are equal.
  bool operator==(const enum_value&) const = default;
};

// A field of a structure.
struct schema_field {
  std::string name = {};                   // of the field
  field_kind kind = field_kind::uint8;     // of one element
  std::size_t structure = 0;               // kind structure: its index in schema::structures
  std::vector<dimension> dimensions = {};  // empty: one value
  std::size_t offset = 0;                  // struct: bytes from the start of the structure
  std::vector<enum_value> values = {};     // names of an integer's values, if it is an enumeration
  std::string unit = {};                   // "rad"; empty: none
  std::string comment = {};                // empty: none
  std::size_t max_length = 0;      // ros2msg: bytes that a string may have, characters of a wide_string; 0: no bound
  std::string default_value = {};  // ros2msg: as it was written
};

// A constant that a schema declares.
struct schema_constant {
  std::string name = {};   // of the constant
  std::string type = {};   // "int32_t"
  std::string value = {};  // as it was written
};

// A structure of a schema.
struct schema_structure {
  std::string name = {};                        // empty: it has none
  std::vector<schema_field> fields = {};        // in the order of the schema
  std::vector<schema_constant> constants = {};  // in the order of the schema
  std::size_t size = 0;                         // struct: bytes, with padding
  std::string comment = {};                     // empty: none
};

// A schema of encoding struct, lcm or ros2msg.
struct schema {
  std::vector<schema_structure> structures = {};  // the first is the type itself
  bool big_endian = false;                        // struct: order of the bytes in each number
};

// Reads a schema of encoding struct, lcm or ros2msg. `found` is untouched unless the result is ok.
// - bad_argument: another encoding, or the schema violates its format or a limit; the message says where.
[[nodiscard]] ORC_API result parse_schema(const type_description& type, schema& found);

// Returns ok when the schema can be read: of any encoding above, also flatbuffer, protobuf and jsonschema. Unknown
// encodings and descriptions without a schema are ok.
[[nodiscard]] ORC_API result check_schema(const type_description& type);

// Returns ok when a subscriber that expects `expected` can read samples of `published`. An empty description matches
// any other; equal ones match unread. Where one has no schema, only encodings and names are compared. `publisher` names
// the publisher for the message: "arm (4711)".
// - type_mismatch: it cannot. The message has both type names and the first difference:
//   field `q` is float32[7] at publisher `arm (4711)`, float64[7] here
// - bad_argument: one of the schemas cannot be read; the message says which.
//
// The rule depends on the encodings (schemas/PROTOCOL.md, "Types"). struct: same fields at the same places. lcm: same
// fingerprint. flatbuffer, protobuf: each can read the other (flatc --conform; field numbers). json: same name. cdr:
// same fields. Unknown encodings: same description.
[[nodiscard]] ORC_API result check_types(const type_description& published, const type_description& expected,
                                         std::string_view publisher);

// Returns the fingerprint with which LCM messages of this type begin. Nothing: not an lcm type, or its schema cannot be
// read.
[[nodiscard]] ORC_API std::optional<std::uint64_t> lcm_fingerprint(const type_description& type);

// Returns the type for people, one field per line with its type, unit and comment, for each encoding above. Other
// schemas: a line that says so. Text from the schema is escaped: it is printable UTF-8.
[[nodiscard]] ORC_API std::string type_text(const type_description& type);

}  // namespace orc
