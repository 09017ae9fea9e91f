// Calls in which Python may end the thread: pthread_exit, when a daemon thread wants the GIL and the interpreter is
// being finalized (before 3.14, which keeps such threads for ever). That unwinds the stack, and aborts the process
// where it meets C++ that must not be unwound. These functions are built without unwind tables (CMakeLists.txt): for
// pthread_exit the stack ends there, and the thread is gone without the destructors of its callers.
#pragma once

#include <Python.h>

namespace orc::python {

// PyEval_RestoreThread: takes the GIL again.
void take_gil(PyThreadState* thread);

// module.name(*arguments), which may run Python code. Null: it raised. Arguments: a tuple, which it takes over.
[[nodiscard]] PyObject* call_python(const char* module, const char* name, PyObject* arguments);

}  // namespace orc::python
