// Decoders of LCM messages, which begin with the fingerprint of their type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orc/types/decoder.h"

namespace orc::cli {

class lcm_decoders {
 public:
  [[nodiscard]] result add(const std::vector<type_description>& types);
  // Null: the sample begins with no fingerprint of these types.
  [[nodiscard]] const types::decoder* find(std::span<const std::byte> sample) const;

 private:
  std::map<std::uint64_t, std::unique_ptr<types::decoder>> by_fingerprint_;
};

}  // namespace orc::cli
