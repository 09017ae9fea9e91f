// Compares schemas of encoding struct, lcm and ros2msg.
#pragma once

#include "orc/schema.h"
#include "schema/sentences.h"

namespace orc::detail {

struct structure_rules {
  bool offsets = false;          // offsets, sizes and the order of the bytes count
  bool order = false;            // the order of the fields counts
  bool structure_names = false;  // the names of nested structures count
};

// Returns the first difference. Per structure: fields in the published order, each with what is nested in it; then
// fields that only `expected` has; then the fields' order or offsets; then the size.
[[nodiscard]] difference compare_structures(const schema& published, const schema& expected, structure_rules rules,
                                            const sentences& words);

// Returns a field's type for people: "float64[3][n]", "string<=10". Names of structures are escaped.
[[nodiscard]] std::string type_of(const schema& all, const schema_field& field);

}  // namespace orc::detail
