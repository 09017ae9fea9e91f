// Walks over a sample in LCM's or ROS 2's encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec.h"
#include "sequential/schema_types.h"
#include "sequential/sequential_format.h"

namespace orc::types::detail {

// One walk. Fields before the wanted one are read too, but not visited: their sizes are in the sample.
class sequential_reader {
 public:
  // `start`: bytes of the header, which the caller has checked.
  sequential_reader(const schema_types& types, const sequential_format& format, byte_span sample, std::size_t start,
                    walk_state& state)
      : types_(types), format_(format), sample_(sample), start_(start), at_(start), state_(state) {}

  // Visits the value at the path. Returns whether the walk goes on.
  bool walk(path_parts path);
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  using shape_span = std::span<const std::size_t>;
  using lengths = std::vector<std::int64_t>;

  bool structure(const typed_structure& of, bool visit);
  bool fields_before(const typed_structure& of, std::size_t end, lengths& known);
  // A whole field: reads the lengths of its dimensions first.
  bool field(const typed_field& of, lengths& known, bool visit);
  bool array_end(const typed_field& of, std::size_t& end);
  bool dimensions(const typed_field& of, const lengths& known, std::vector<std::size_t>& shape);
  bool array(const typed_field& of, shape_span shape, bool visit);
  bool numbers(const typed_field& of, shape_span shape, bool visit);
  bool element(const typed_field& of, bool visit, std::int64_t* length);
  bool descend(const typed_field& of, const std::vector<std::size_t>& shape, path_parts path, path_parts& rest);

  bool text(bool visit);
  bool wide_text(bool visit);
  bool fixed_characters(std::size_t size, bool visit);
  bool read_count(std::size_t& count);
  bool align(std::size_t size);
  bool need(std::size_t bytes);
  [[nodiscard]] std::size_t left() const noexcept { return sample_.size() - at_; }

  const schema_types& types_;
  const sequential_format& format_;
  byte_span sample_;
  std::size_t start_;
  std::size_t at_;
  walk_state& state_;
};

}  // namespace orc::types::detail
