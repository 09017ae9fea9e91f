// liborc's error codes as the exceptions of orc/_errors.py.
#pragma once

#include <string>

#include "orc.h"

namespace orc::python {

// Raises the exception of `code`: with `text`, else with the one sentence of the code. With the GIL.
[[noreturn]] void fail(errc code, const std::string& text = {});

// Raises unless it worked.
void check(const result& outcome);

}  // namespace orc::python
