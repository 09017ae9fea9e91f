// The comparison of types (liborc/include/orc/schema.h) for services, which compare those of their clients.
#pragma once

#include <nanobind/nanobind.h>

namespace orc::python {

void bind_type_check(nanobind::module_& m);

}  // namespace orc::python
