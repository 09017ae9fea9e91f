#include "call_python.h"

namespace orc::python {

void take_gil(PyThreadState* thread) {
  PyEval_RestoreThread(thread);
  asm volatile("");  // no tail call: this frame ends the stack
}

void with_gil(void (*run)(void*), void* data) {
  const PyGILState_STATE state = PyGILState_Ensure();
  run(data);
  PyGILState_Release(state);
  asm volatile("");
}

PyObject* call_object(PyObject* function, PyObject* argument) {
  PyObject* const result = PyObject_CallFunctionObjArgs(function, argument, nullptr);
  asm volatile("");
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
