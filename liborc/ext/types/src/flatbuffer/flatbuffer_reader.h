// Walks over a FlatBuffer. Each access is checked against the buffer's end, so nothing is verified before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flatbuffer/flatbuffer_schema.h"

namespace orc::types::detail {

class flatbuffer_reader {
 public:
  flatbuffer_reader(const flatbuffer_schema& schema, byte_span sample, walk_state& state)
      : schema_(schema), sample_(sample), state_(state) {}

  // Visits the value at the path. Returns whether the walk goes on.
  bool walk(path_parts path);

 private:
  struct table {
    std::size_t at = 0;
    std::size_t bytes = 0;
    std::size_t vtable = 0;
    std::size_t vtable_bytes = 0;
  };
  // A value: its type, and where its number, struct or offset lies. Absent: at is 0.
  struct place {
    const flat_field* field = nullptr;
    flat_type type = {};
    std::size_t at = 0;
  };

  bool walk_object(const flat_object& of, std::size_t at);
  bool walk_value(const place& what);
  bool walk_default(const flat_field& of);
  bool walk_vector(const place& what);
  bool walk_numbers(const place& what, std::size_t at, std::size_t count);
  bool walk_elements(const place& what, std::size_t at, std::size_t count, std::size_t types);
  bool walk_text(std::size_t at, bool far);
  // One step of a path.
  bool step_into(const flat_object& of, std::size_t at, const field_path::part& part, place& found);
  bool step_to_element(place& what, std::size_t index);

  bool open_table(std::size_t at, table& opened);
  bool find_field(const flat_object& of, std::size_t at, const flat_field& field, const table& opened, place& found);
  bool choose_member(const flat_object& of, const table& opened, place& found);
  // `far`, `wide`: the offset, the length has 8 bytes instead of 4.
  bool follow(std::size_t at, std::size_t& target, bool far = false);
  // Checks a vector of elements of that many bytes; `at` moves from its offset to its first element.
  bool open_vector(std::size_t& at, std::size_t element_bytes, std::size_t& count, bool far = false, bool wide = false);
  // The array in front of a fixed array or vector.
  bool open_array(const place& what, std::size_t& at, std::size_t& count);
  bool need(std::size_t at, std::size_t bytes);
  [[nodiscard]] std::size_t table_slot(const table& of, const flat_field& field) const noexcept;

  const flatbuffer_schema& schema_;
  byte_span sample_;
  walk_state& state_;
  std::size_t union_types_ = 0;  // the vector of types of the vector of unions that is next; 0: none
};

}  // namespace orc::types::detail
