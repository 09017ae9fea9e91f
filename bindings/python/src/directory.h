// The directory and its watches (liborc/include/orc/directory.h) for orc/_directory.py.
#pragma once

#include <nanobind/nanobind.h>

namespace orc::python {

void bind_directory(nanobind::module_& m);

}  // namespace orc::python
