// The type of a topic, ready to decode its samples.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "orc/types/decoder.h"

namespace orc::web {

struct decoded_type {
  std::string name = {};
  std::string encoding = {};                           // of the samples
  std::uint64_t hash = 0;                              // hash_of() the type
  std::unique_ptr<const types::decoder> decoder = {};  // null: samples cannot be decoded
  std::string problem = {};                            // why they cannot
};

// Never null. Throws bad_alloc only.
[[nodiscard]] std::shared_ptr<const decoded_type> decoded(const type_description& type);

}  // namespace orc::web
