#include "log_sink.h"

#include <utility>

#include "interpreter.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

thread_local bool calling = false;

[[nodiscard]] const char* name_of(log_level level) noexcept {
  switch (level) {
    case log_level::error: return "error";
    case log_level::warning: return "warning";
    case log_level::info: return "info";
    case log_level::debug: break;
  }
  return "debug";
}

}  // namespace

void log_sink::write(log_level level, std::string_view text) noexcept {
  if (interpreter::is_ending()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool before = std::exchange(calling, true);
  if (const nb::object to = callable_; to.is_valid()) {
    try {
      to(name_of(level), nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable(to);
    }
  }
  calling = before;
  PyGILState_Release(state);
}

bool log_sink::in_a_call() noexcept { return calling; }

}  // namespace orc::python
