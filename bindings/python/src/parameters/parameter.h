// orc.Parameter, and parameters of other programs.
#pragma once

#include <nanobind/nanobind.h>

namespace orc::python {

void bind_parameter(nanobind::module_& m);
void bind_remote_parameters(nanobind::module_& m);

}  // namespace orc::python
