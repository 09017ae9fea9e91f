#include "errors.h"

#include "call_python.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

[[nodiscard]] const char* name_of(errc code) noexcept {
  switch (code) {
    case errc::ok: break;
    case errc::nothing_new: return "nothing_new";
    case errc::timed_out: return "timed_out";
    case errc::no_broker: return "no_broker";
    case errc::bad_name: return "bad_name";
    case errc::bad_argument: return "bad_argument";
    case errc::name_taken: return "name_taken";
    case errc::not_registered: return "not_registered";
    case errc::not_requested: return "not_requested";
    case errc::refused: return "refused";
    case errc::no_memory: return "no_memory";
    case errc::no_descriptors: return "no_descriptors";
    case errc::no_permission: return "no_permission";
    case errc::system_error: return "system_error";
    case errc::closed: return "closed";
    case errc::forked: return "forked";
    case errc::too_many_messages: return "too_many_messages";
    case errc::unknown_topic: return "unknown_topic";
    case errc::unknown_type: return "unknown_type";
    case errc::type_mismatch: return "type_mismatch";
  }
  return "ok";
}

}  // namespace

nb::object error_of(errc code, const std::string& text) {
  const std::string sentence = text.empty() ? std::string(describe(code)) : text;
  nb::object error =
      nb::steal(call_python("orc._errors", "make", Py_BuildValue("(ss)", name_of(code), sentence.c_str())));
  if (!error.is_valid()) throw nb::python_error();
  return error;
}

void fail(errc code, const std::string& text) {
  const nb::object error = error_of(code, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void fail_to_wait(errc code) {
  fail(code, code == errc::bad_argument ? "timeout_ms is -1 (for ever), 0 (poll) or more" : "");
}

void check(const result& outcome, const std::string& stays) {
  if (outcome) return;
  std::string text = outcome.error().message();
  if (outcome.code() == errc::no_broker && !stays.empty()) text += "; " + stays;
  fail(outcome.code(), text);
}

}  // namespace orc::python
