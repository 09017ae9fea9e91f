// liborc's error codes as the exceptions of orc/_errors.py.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "orc.h"

namespace orc::python {

// Returns the exception of `code`, an orc.Error: with `text`, else with the sentence of the code. With the GIL.
[[nodiscard]] nanobind::object error_of(errc code, const std::string& text = {});

// Raises it.
[[noreturn]] void fail(errc code, const std::string& text = {});

// Same for a call with a timeout; its bad_argument explains timeouts.
[[noreturn]] void fail_to_wait(errc code);

// Raises, unless the call succeeded. `stays` ends the text of no_broker: what stays set up, and how to reach it.
void check(const result& outcome, const std::string& stays = {});

}  // namespace orc::python
