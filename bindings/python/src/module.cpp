// The extension orc._native: liborc for orc/__init__.py, which adds the parts that are simpler in Python.
#include <nanobind/nanobind.h>

#include "call.h"
#include "call_ends.h"
#include "directory.h"
#include "interpreter.h"
#include "message.h"
#include "orc.h"
#include "participant.h"
#include "publisher.h"
#include "session_ref.h"
#include "subscriber.h"
#include "type_check.h"

namespace nb = nanobind;

namespace {

// The bindings rely on the GIL: loans and messages have no locks of their own.
void refuse_free_threading() {
  const nb::module_ sys = nb::module_::import_("sys");
  if (!nb::hasattr(sys, "_is_gil_enabled") || nb::cast<bool>(sys.attr("_is_gil_enabled")())) return;
  PyErr_SetString(PyExc_ImportError,
                  "orc does not support Python without the GIL: use the ordinary build, or set PYTHON_GIL=1");
  throw nb::python_error();
}

// For type checkers: orc.Subscriber[State].
void make_generic(nb::module_& m) {
  const nb::object alias = nb::module_::import_("types").attr("GenericAlias");
  const nb::object class_method = nb::module_::import_("builtins").attr("classmethod");
  for (const char* const name : {"Message", "Publisher", "Subscriber"})
    m.attr(name).attr("__class_getitem__") = class_method(alias);
}

}  // namespace

NB_MODULE(_native, m) {
  refuse_free_threading();
  nb::set_leak_warnings(false);  // atexit closed everything that is left
  m.doc() = "liborc (liborc/include/orc/*.h) for the package orc.";
  m.attr("version") = orc::version();
  m.def("monotonic_ns", &orc::monotonic_ns,
        "Same as time.monotonic_ns(), but traced (ORC_TRACE): a replay returns the same values again. "
        "liborc/doc/guide/replay.md.");
  orc::python::interpreter::watch_end();
  orc::python::bind_session(m);
  orc::python::bind_message(m);
  orc::python::bind_publisher(m);
  orc::python::bind_subscriber(m);
  orc::python::bind_call_ends(m);
  orc::python::bind_call(m);
  orc::python::bind_participant(m);
  orc::python::bind_directory(m);
  orc::python::bind_type_check(m);
  make_generic(m);
}
