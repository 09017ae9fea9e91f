// Converts options from Python.
#pragma once

#include <nanobind/nanobind.h>

#include "orc.h"

namespace orc::python {

// From an iterable of names, or one string with commas between them. Raises BadArgument, TypeError.
[[nodiscard]] transport_set to_transports(nanobind::handle names);

// From "bulk", "normal" or "control". Raises BadArgument.
[[nodiscard]] priority to_priority(const std::string& name);

// From orc.TypeInfo or None. Raises TypeError.
[[nodiscard]] type_info to_type_info(nanobind::handle type);

}  // namespace orc::python
