#include "calls/python_handler.h"

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "call_python.h"
#include "calls/python_thread.h"
#include "calls/served_call.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

// A larger reply stays where it is while it is copied into the message, which needs the GIL once more.
constexpr Py_ssize_t most_copied = 16 << 10;

// What a handler returned.
struct outcome {
  std::optional<call_error> error;
  bool has_reply = false;
  std::string copy;
  Py_buffer large{};  // without an object: there is none
};

[[nodiscard]] std::string to_utf8(PyObject* text) {
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "replace"));
  if (!bytes.is_valid()) {
    PyErr_Clear();
    return {};
  }
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

[[nodiscard]] call_error to_error(PyObject* tuple) {
  int code = 0;
  int number = 0;
  PyObject* text = nullptr;
  PyObject* type = nullptr;
  if (PyArg_ParseTuple(tuple, "iiUU", &code, &number, &text, &type) == 0) {
    PyErr_WriteUnraisable(tuple);
    return {.code = call_errc::exception, .text = "the handler returned something else"};
  }
  return {
      .code = static_cast<call_errc>(code), .number = number, .text = to_utf8(text), .exception_type = to_utf8(type)};
}

void read(PyObject* returned, outcome& found) noexcept try {
  if (returned == nullptr) {
    PyErr_WriteUnraisable(nullptr);
    found.error = call_error{.code = call_errc::exception, .text = "the handler failed"};
  } else if (PyTuple_Check(returned)) {
    found.error = to_error(returned);
  } else if (returned != Py_None) {
    found.has_reply = PyObject_GetBuffer(returned, &found.large, PyBUF_SIMPLE) == 0;
    if (!found.has_reply) {
      PyErr_Clear();
      found.error = call_error{.code = call_errc::bad_reply, .text = "the reply is no buffer"};
    } else if (found.large.len <= most_copied) {
      found.copy.assign(static_cast<const char*>(found.large.buf), static_cast<std::size_t>(found.large.len));
      PyBuffer_Release(&found.large);
    }
  }
} catch (const std::bad_alloc&) {
  found.error = call_error{.code = call_errc::no_memory};
}

}  // namespace

void python_handler::run(std::span<const std::byte> request, call_context& context, detail::reply_writer& reply) {
  const auto call = takes_call_ ? std::make_shared<served_call>(context, reply) : nullptr;
  outcome found;
  with_gil([&]() noexcept {
    const nb::object function = function_;
    if (!function.is_valid()) {
      found.error = call_error{.code = call_errc::server_died};
      return;
    }
    const nb::object bytes = nb::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(request.data()),
                                                                 static_cast<Py_ssize_t>(request.size())));
    nb::object taken = nb::none();
    try {
      if (call) taken = nb::cast(served_call_handle{.call = call});
    } catch (...) {
      taken.reset();
    }
    if (!bytes.is_valid() || !taken.is_valid()) {
      PyErr_Clear();
      found.error = call_error{.code = call_errc::no_memory};
      return;
    }
    const nb::object returned = nb::steal(call_function(function.ptr(), bytes.ptr(), taken.ptr()));
    read(returned.ptr(), found);
  });
  if (call) call->end();
  if (found.error) {
    reply.reject(*std::move(found.error));
  } else if (found.has_reply) {
    const bool is_large = found.large.obj != nullptr;
    const void* const data = is_large ? found.large.buf : found.copy.data();
    const std::size_t size = is_large ? static_cast<std::size_t>(found.large.len) : found.copy.size();
    std::byte* const at = reply.reserve(size);
    if (at != nullptr && size != 0) std::memcpy(at, data, size);
  }
  if (found.large.obj != nullptr) with_gil([&]() noexcept { PyBuffer_Release(&found.large); });
}

}  // namespace orc::python
