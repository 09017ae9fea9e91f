// Whether a subscriber can read what a publisher sends, and why not.
#pragma once

#include <string_view>

#include "orc/result.h"
#include "orc/type_description.h"
#include "schema/sentences.h"

namespace orc::detail {

// The contract of orc::check_types().
[[nodiscard]] result check_types(const type_description& published, const type_description& expected,
                                 const sentences& words);

// Returns bad_argument for a name or a schema that is too long. The message does not name the type.
[[nodiscard]] result check_limits(const type_description& type);

// The contract of orc::check_schema(). The message does not name the type.
[[nodiscard]] result check_schema(const type_description& type);

}  // namespace orc::detail
