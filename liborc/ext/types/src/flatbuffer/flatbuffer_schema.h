// A binary FlatBuffers schema (bfbs), checked and prepared: walks trust it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codec.h"
#include "orc/schema.h"

namespace orc::types::detail {

enum class flat_kind : std::uint8_t { number, text, object, vector, array, flat_union };

struct flat_type {
  flat_kind kind = flat_kind::number;
  field_kind number = field_kind::uint8;  // also of the elements, if they are numbers
  flat_kind element = flat_kind::number;  // kind vector, array
  std::size_t index = 0;                  // of the object, or of the union
  std::size_t fixed_size = 0;             // kind array
  bool boxed = false;                     // a struct behind an offset: the member of a union
  bool far = false;                       // a text or vector: its offset has 8 bytes
  bool wide = false;                      // kind vector: its length has 8 bytes

  // The type of an element.
  [[nodiscard]] flat_type of_element() const noexcept { return {element, number, flat_kind::number, index}; }
};

struct flat_field {
  field_info info = {};
  flat_type type = {};
  std::size_t slot = 0;  // in a table: its place in the vtable; in a struct: its offset
  std::int64_t default_integer = 0;
  double default_real = 0;
  bool optional = false;  // a number without a default
  bool required = false;
  bool deprecated = false;
  std::size_t union_type = 0;  // kind union, or vector of unions: index of the field that has the type
};

struct flat_object {
  std::string_view name = {};
  bool is_struct = false;
  std::size_t bytes = 0;  // of a struct
  std::size_t alignment = 1;
  std::vector<flat_field> fields = {};  // in the order of their ids
  std::unordered_map<std::string_view, std::size_t> by_name = {};
};

struct flat_union {
  std::unordered_map<std::int64_t, flat_type> members = {};
};

// Immutable after make(): const functions may be called from any threads. Names are views of the schema's bytes.
class flatbuffer_schema {
 public:
  // Reads the schema; the root is the table with the description's name, or the schema's own when it has none.
  result make(const type_description& type);

  [[nodiscard]] const flat_object& root() const noexcept { return objects_[root_]; }
  [[nodiscard]] const flat_object& object(std::size_t index) const noexcept { return objects_[index]; }
  // The type of the union's member with this number, or null.
  [[nodiscard]] const flat_type* member(std::size_t index, std::int64_t number) const noexcept {
    const auto found = unions_[index].members.find(number);
    return found == unions_[index].members.end() ? nullptr : &found->second;
  }
  // Four characters, or none.
  [[nodiscard]] std::string_view identifier() const noexcept { return identifier_; }
  // Bytes of a value of this type in a table or vector: of offsets 4 or 8.
  [[nodiscard]] std::size_t bytes_of(const flat_type& type) const noexcept;
  [[nodiscard]] name_list names_of(const flat_object& object) const;

 private:
  class reader;

  std::vector<flat_object> objects_ = {};
  std::vector<flat_union> unions_ = {};
  std::deque<enumeration> enumerations_ = {};
  std::size_t root_ = 0;
  std::string_view identifier_ = {};
};

// In path parts: a field that only the sample can say, within a union.
inline constexpr std::size_t unknown_field = static_cast<std::size_t>(-1);

}  // namespace orc::types::detail
