#include "call_python.h"

namespace orc::python {

void take_gil(PyThreadState* thread) {
  PyEval_RestoreThread(thread);
  asm volatile("");  // no tail call: this frame ends the stack
}

PyThreadState* add_thread() {
  (void)PyGILState_Ensure();
  return PyThreadState_Get();
}

void remove_thread(PyThreadState* thread) {
  PyEval_RestoreThread(thread);
  PyGILState_Release(PyGILState_UNLOCKED);
  asm volatile("");
}

PyObject* call_function(PyObject* function, PyObject* first, PyObject* second) {
  PyObject* const result = PyObject_CallFunctionObjArgs(function, first, second, nullptr);
  asm volatile("");  // no tail call: this frame ends the stack
  return result;
}

PyObject* call_python(const char* module, const char* name, PyObject* arguments) {
  if (arguments == nullptr) return nullptr;
  PyObject* result = nullptr;
  if (PyObject* const from = PyImport_ImportModule(module)) {
    if (PyObject* const function = PyObject_GetAttrString(from, name)) {
      result = PyObject_CallObject(function, arguments);
      Py_DECREF(function);
    }
    Py_DECREF(from);
  }
  Py_DECREF(arguments);
  return result;
}

}  // namespace orc::python
