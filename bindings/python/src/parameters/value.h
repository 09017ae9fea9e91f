// Values and descriptions of parameters in Python and in C++. With the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "orc/parameters/parameter_description.h"
#include "orc/parameters/parameter_value.h"

namespace orc::python {

// From a bool, an int of 64 bits, a float, a str or a list of floats. Throws TypeError. Half a surrogate pair becomes a
// byte that is no UTF-8, which liborc refuses.
[[nodiscard]] parameter_value to_value(nanobind::handle value);
[[nodiscard]] nanobind::object to_python(const parameter_value& value);

// From orc.ParameterDescription, without its owner.
[[nodiscard]] parameter_description to_description(nanobind::handle description);
// In the order of its fields; the owner as a tuple, too.
[[nodiscard]] nanobind::tuple tuple_of(const parameter_description& description);

}  // namespace orc::python
