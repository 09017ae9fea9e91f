// The extension orc._native: liborc for orc/__init__.py, which adds the parts that are simpler in Python.
#include <nanobind/nanobind.h>

#include "calls/call_ends.h"
#include "calls/offered_service.h"
#include "calls/open_call.h"
#include "calls/served_call.h"
#include "directory.h"
#include "errors.h"
#include "interpreter.h"
#include "message.h"
#include "orc.h"
#include "parameters/parameter.h"
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
  for (const char* const name : {"Message", "Parameter", "Publisher", "Subscriber"})
    m.attr(name).attr("__class_getitem__") = class_method(alias);
}

}  // namespace

NB_MODULE(_native, m) {
  refuse_free_threading();
  nb::set_leak_warnings(false);  // atexit closed everything that is left
  m.doc() = "liborc (liborc/include/orc/*.h) for the package orc.";
  m.attr("version") = orc::version();
  m.def(
      "lock_memory",
      [](std::size_t stack_bytes, std::size_t heap_bytes) {
        orc::python::check(orc::lock_memory({.stack_bytes = stack_bytes, .heap_bytes = heap_bytes}));
      },
      nb::kw_only(), nb::arg("stack_bytes") = orc::memory_lock_options().stack_bytes,
      nb::arg("heap_bytes") = orc::memory_lock_options().heap_bytes,
      "Locks the memory of the process, now and in the future (mlockall): no page is swapped out, or touched for the "
      "first time in a control loop. Freed memory stays with the process from then on. Call it once, before the "
      "threads "
      "of control loops start and before participants are made.\n\n"
      "stack_bytes: of the calling thread's stack that are touched now.\n"
      "heap_bytes: of heap that are taken now and stay with the process.\n\n"
      "Raises NoPermission (ulimit -l, LimitMEMLOCK=infinity or CAP_IPC_LOCK is missing), NoMemory, SystemFailure.");
  m.def("monotonic_ns", &orc::monotonic_ns,
        "Same as time.monotonic_ns(), but traced (ORC_TRACE): a replay returns the same values again. "
        "liborc/doc/guide/replay.md.");
  orc::python::interpreter::watch_end();
  orc::python::bind_session(m);
  orc::python::bind_message(m);
  orc::python::bind_publisher(m);
  orc::python::bind_subscriber(m);
  orc::python::bind_call_ends(m);
  orc::python::bind_open_call(m);
  orc::python::bind_served_call(m);
  orc::python::bind_offered_service(m);
  orc::python::bind_participant(m);
  orc::python::bind_parameter(m);
  orc::python::bind_remote_parameters(m);
  orc::python::bind_directory(m);
  orc::python::bind_type_check(m);
  make_generic(m);
}
