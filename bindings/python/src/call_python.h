// Calls in which Python may end the thread. Before 3.14, Python calls pthread_exit when a daemon thread wants the GIL
// and the interpreter is finalizing (3.14 keeps such threads for ever). That unwinds the stack, and aborts the process
// at C++ that must not be unwound. These functions are built without unwind tables (CMakeLists.txt). So pthread_exit
// finds the end of the stack there, and the thread ends without the destructors of its callers.
#pragma once

#include <Python.h>

namespace orc::python {

// PyEval_RestoreThread: takes the GIL again.
void take_gil(PyThreadState* thread);

// Runs `run(data)`, which must not throw, with the GIL, on any thread that does not hold it.
void with_gil(void (*run)(void*), void* data);

// Calls function(argument), which may run Python code. Null: it raised.
[[nodiscard]] PyObject* call_object(PyObject* function, PyObject* argument);

// Calls module.name(*arguments), which may run Python code. Null: it raised. Takes over `arguments`, a tuple.
[[nodiscard]] PyObject* call_python(const char* module, const char* name, PyObject* arguments);

}  // namespace orc::python
