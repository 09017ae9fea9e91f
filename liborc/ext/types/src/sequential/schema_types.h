// The structures of a schema of encoding struct, lcm or ros2msg, prepared for walks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codec.h"
#include "orc/schema.h"

namespace orc::types::detail {

struct typed_field {
  const schema_field* declared = nullptr;
  field_info info = {};
  std::vector<std::size_t> shape = {};  // sizes of the dimensions; of variable ones the bound, or 0
  std::size_t element_bytes = 0;        // of a number or char; structures have their own size; 0: texts
  bool variable = false;                // some dimension is
  // lcm: the field is the length of an array: its place among the lengths of its structure.
  std::size_t length_slot = no_slot;
  std::vector<std::size_t> dimension_slots = {};  // lcm: per dimension, the slot of its length

  static constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

  [[nodiscard]] field_kind kind() const noexcept { return declared->kind; }
  [[nodiscard]] bool is_number() const noexcept { return size_of(declared->kind) != 0; }
};

struct typed_structure {
  const schema_structure* declared = nullptr;
  std::vector<typed_field> fields = {};
  std::unordered_map<std::string_view, std::size_t> by_name = {};
  std::size_t length_slots = 0;
};

// Immutable after make(): const functions may be called from any threads.
class schema_types {
 public:
  // Reads the schema, and checks what the walks rely on: indices, and in structs that fields lie in their structure.
  result make(const type_description& type);

  [[nodiscard]] const typed_structure& root() const noexcept { return structures_.front(); }
  [[nodiscard]] const typed_structure& at(std::size_t index) const noexcept { return structures_[index]; }
  [[nodiscard]] bool big_endian() const noexcept { return schema_.big_endian; }

  // See codec::bind(). An array of char is a value, not an array, in its last dimension.
  result bind(std::vector<field_path::part>& parts, field_info& info) const;

 private:
  result prepare(const schema_structure& from, typed_structure& to, bool with_offsets);
  result prepare_lengths(typed_structure& to);
  result check_place(const schema_structure& in, const typed_field& field) const;

  schema schema_ = {};
  std::vector<typed_structure> structures_ = {};
  std::deque<enumeration> enumerations_ = {};
};

// Whether all names of the object are fields of the structure.
bool check_names(const typed_structure& structure, const nlohmann::json& object, encode_state& state);

}  // namespace orc::types::detail
