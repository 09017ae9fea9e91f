// A handler in Python, as the threads of a service run it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <utility>

#include "orc/calls.h"

namespace orc::python {

class python_handler {
 public:
  // `function` is called with the request, as bytes, and a ServedCall, or None if it does not take the call. It returns
  // the reply as a buffer, a tuple (code, number, text, exception_type), or None after ServedCall.end_with. With the
  // GIL.
  python_handler(nanobind::object function, bool takes_call)
      : function_(std::move(function)), takes_call_(takes_call) {}
  // clear() must come first, because the last owner may be a thread without the GIL.
  ~python_handler() { (void)function_.release(); }
  python_handler(const python_handler&) = delete;
  python_handler& operator=(const python_handler&) = delete;

  // Without the GIL. After clear() the call ends as server_died.
  void run(std::span<const std::byte> request, call_context& context, detail::reply_writer& reply);

  // With the GIL.
  void clear() noexcept { function_.reset(); }
  [[nodiscard]] PyObject* function() const noexcept { return function_.ptr(); }

 private:
  nanobind::object function_;
  const bool takes_call_;
};

}  // namespace orc::python
