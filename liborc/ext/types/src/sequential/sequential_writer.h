// Writes a sample in LCM's or ROS 2's encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "encode_state.h"
#include "sequential/schema_types.h"
#include "sequential/sequential_format.h"

namespace orc::types::detail {

class sequential_writer {
 public:
  // `start`: bytes of the header, which the state has already.
  sequential_writer(const schema_types& types, const sequential_format& format, std::size_t start, encode_state& state)
      : types_(types), format_(format), start_(start), state_(state) {}

  // null is a structure of zeros.
  bool structure(const typed_structure& of, const nlohmann::json& from);

 private:
  // lcm: values of the fields that are lengths; what no array and no value has said is absent.
  using lengths = std::map<std::size_t, std::uint64_t>;

  bool collect_lengths(const typed_structure& of, const nlohmann::json& from, lengths& known);
  bool field(const typed_field& of, const nlohmann::json& from, const lengths& known);
  bool array(const typed_field& of, const nlohmann::json& from, const std::vector<std::size_t>& shape,
             std::size_t dimension);
  bool element(const typed_field& of, const nlohmann::json& from);
  bool text(const nlohmann::json& from);
  bool wide_text(const nlohmann::json& from);
  bool count(std::size_t number);
  bool align(std::size_t size);

  const schema_types& types_;
  const sequential_format& format_;
  std::size_t start_;
  encode_state& state_;
};

}  // namespace orc::types::detail
