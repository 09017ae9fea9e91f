// Shows types to people.
#pragma once

#include <string>

#include "orc/type_description.h"

namespace orc::detail {

// The contract of orc::type_text().
[[nodiscard]] std::string type_text(const type_description& type);

}  // namespace orc::detail
