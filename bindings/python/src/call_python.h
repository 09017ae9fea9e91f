// Calls in which Python may end the thread. Before 3.14, Python calls pthread_exit when a daemon thread wants the GIL
// and the interpreter is finalizing (3.14 keeps such threads for ever). That unwinds the stack, and aborts the process
// at C++ that must not be unwound. These functions are built without unwind tables (CMakeLists.txt). So pthread_exit
// finds the end of the stack there, and the thread ends without the destructors of its callers.
#pragma once

#include <Python.h>

namespace orc::python {

// PyEval_RestoreThread: takes the GIL again.
void take_gil(PyThreadState* thread);

// Makes a thread of ORC one of Python, and takes the GIL. Returns the thread's state.
[[nodiscard]] PyThreadState* add_thread();

// Takes the GIL, and ends with the state of add_thread(), without the GIL.
void remove_thread(PyThreadState* thread);

// Calls module.name(*arguments), which may run Python code. Null: it raised. Takes over `arguments`, a tuple.
[[nodiscard]] PyObject* call_python(const char* module, const char* name, PyObject* arguments);

// Calls function(first) or function(first, second), which may run Python code. Null: it raised.
[[nodiscard]] PyObject* call_function(PyObject* function, PyObject* first, PyObject* second = nullptr);

}  // namespace orc::python
