// What a schema says about a field.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace orc::types {

// The names of an enumeration's numbers.
class enumeration {
 public:
  struct entry {
    std::string_view name;
    std::int64_t number;
  };

  // Takes names that outlive this object. Of several names for one number the first counts.
  explicit enumeration(std::vector<entry> entries);

  // Returns the number's name, or an empty text when it has none.
  [[nodiscard]] std::string_view name_of(std::int64_t number) const noexcept;
  // Returns the entry with this name, or null.
  [[nodiscard]] const entry* find(std::string_view name) const noexcept;
  // In ascending order of their numbers.
  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<entry> entries_;
  std::vector<entry> by_name_;
};

// A field of a structure. All texts come from the schema, or in encoding json from the sample: they can hold any bytes.
// They live as long as the decoder. Exception: the name of an entry of a map (protobuf) or of an object (json) lives
// until the visitor returns.
struct field_info {
  std::string_view name = {};
  std::string_view unit = {};     // empty: none
  std::string_view comment = {};  // empty: none
  // Not null: the value is an integer, or an array of them, and some numbers have names.
  const enumeration* names = nullptr;
};

}  // namespace orc::types
