// Converts options from Python.
#pragma once

#include <nanobind/nanobind.h>

#include "orc.h"

namespace orc::python {

// From an iterable of names, or one string with commas between them. Raises BadArgument, TypeError.
[[nodiscard]] transport_set to_transports(nanobind::handle names);

// From "bulk", "normal" or "control". Raises BadArgument.
[[nodiscard]] priority to_priority(const std::string& name);

// From orc.TypeDescription or None. Raises TypeError.
[[nodiscard]] type_description to_type(nanobind::handle type);

// From "block" or "predictive". Raises BadArgument.
[[nodiscard]] wait to_wait(const std::string& name);

// From "all" or "each". Raises BadArgument.
[[nodiscard]] newest_of to_newest_of(const std::string& name);

// From "on" or "off". Raises BadArgument.
[[nodiscard]] type_check to_type_check(const std::string& name);

}  // namespace orc::python
