// Arguments without conversion or copy.
#pragma once

#include <nanobind/nanobind.h>

#include <climits>
#include <cstddef>

namespace orc::python {

namespace nb = nanobind;

// The bytes of any C-contiguous buffer, valid during the life of this object. With the GIL.
class readable_bytes {
 public:
  // Throws TypeError (no buffer), BufferError or ValueError (not contiguous).
  explicit readable_bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
    if (PyUnicode_Check(object.ptr()))
      PyErr_SetString(PyExc_TypeError, "a sample is bytes, not str: encode it, e.g. text.encode()");
    throw nb::python_error();
  }
  ~readable_bytes() { PyBuffer_Release(&view_); }
  readable_bytes(const readable_bytes&) = delete;
  readable_bytes& operator=(const readable_bytes&) = delete;

  [[nodiscard]] const void* data() const noexcept { return view_.buf; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_;
};

// An int, or anything with __index__. Throws TypeError, OverflowError.
[[nodiscard]] inline int to_int(nb::handle object, const char* what) {
  if (!PyLong_Check(object.ptr())) {
    const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    return to_int(index, what);
  }
  const long value = PyLong_AsLong(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (value > INT_MAX || value < INT_MIN) {
    PyErr_Format(PyExc_OverflowError, "%s does not fit in a C int: %ld", what, value);
    throw nb::python_error();
  }
  return static_cast<int>(value);
}

}  // namespace orc::python
