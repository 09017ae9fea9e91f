// Schemas of encoding "lcm": the definitions of a type and of all nested ones in LCM's type language, in one text in
// which `package` can be repeated; or, where these are not known, the one line `fingerprint 0x0123456789abcdef`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "orc/schema.h"

namespace orc::detail {

struct lcm_types {
  schema definitions;                     // the root first; empty: only the fingerprint is known
  std::vector<std::int64_t> base_hashes;  // of the structures
  std::uint64_t fingerprint = 0;          // of the root
};

// `name` is the full name of the root: "exlcm.example_t"; empty: the first structure in the text. Error: what is wrong,
// with its place ("line 3: …").
[[nodiscard]] expected<lcm_types> parse_lcm_schema(std::string_view text, std::string_view name);

}  // namespace orc::detail
