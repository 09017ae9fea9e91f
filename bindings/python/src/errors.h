// liborc's error codes as the exceptions of orc/_errors.py.
#pragma once

#include <string>

#include "orc.h"

namespace orc::python {

// Raises the exception of `code`: with `text`, else with the one sentence of the code. With the GIL.
[[noreturn]] void fail(errc code, const std::string& text = {});

// The same for a call with a timeout, which says what one is.
[[noreturn]] void fail_to_wait(errc code);

// Raises unless it worked.
void check(const result& outcome);

}  // namespace orc::python
