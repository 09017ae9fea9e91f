// The way to one field of a type: "arm.q[3]".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orc/types/field_info.h"

namespace orc::types {

// Made by decoder::path(), and used with that decoder only.
class field_path {
 public:
  // One step: into a field of a structure, or to an element of an array.
  struct part {
    std::string name = {};      // of the field; empty for an element
    std::size_t structure = 0;  // index of the structure in the schema, where the encoding has one
    std::size_t field = 0;      // index of the field in it
    std::size_t index = 0;      // of the element
    bool element = false;
  };

  // The path as it was written. Empty: the whole sample.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // What the schema says about the last field of the path; empty in encoding json. Lives as long as the decoder.
  [[nodiscard]] const field_info& info() const noexcept { return info_; }
  // The steps from the root.
  [[nodiscard]] const std::vector<part>& parts() const noexcept { return parts_; }

 private:
  friend class decoder;
  std::string text_ = {};
  std::vector<part> parts_ = {};
  field_info info_ = {};
};

}  // namespace orc::types
