// The participant: set-up calls, and the four calls by name.
#pragma once

#include <nanobind/nanobind.h>

namespace orc::python {

void bind_participant(nanobind::module_& m);

}  // namespace orc::python
