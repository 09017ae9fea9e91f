// The fingerprint of LCM types, as lcm-gen computes it (lcmgen.c, lcm_struct_hash(); emit_python.c,
// _get_hash_recursive()).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "orc/schema.h"

namespace orc::detail {

// The hash of a structure's members: names, primitive types and dimensions. Nested types add theirs later.
class lcm_base_hash {
 public:
  void member(std::string_view name) noexcept { add(name); }
  void primitive(std::string_view type) noexcept { add(type); }
  void dimensions(std::size_t count) noexcept { add(count); }
  void dimension(bool variable, std::string_view size) noexcept {
    add(std::size_t{variable});
    add(size);
  }
  [[nodiscard]] std::int64_t value() const noexcept { return value_; }

 private:
  void add(std::size_t byte) noexcept;
  void add(std::string_view text) noexcept;

  std::int64_t value_ = 0x12345678;
};

// Returns the fingerprint of the first structure: its base hash plus those of nested types, 0 where a type contains
// itself, rotated left by one at each level. Error: types that nest too deep, or contain each other in too many ways.
[[nodiscard]] expected<std::uint64_t> lcm_hash(const schema& types, const std::vector<std::int64_t>& base_hashes);

}  // namespace orc::detail
