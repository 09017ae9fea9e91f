// Passes a participant's log to a Python callable, on liborc's thread.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "orc/log.h"

namespace orc::python {

class log_sink {
 public:
  // With the GIL.
  explicit log_sink(nanobind::object callable) : callable_(std::move(callable)) {}
  // clear() must come first, because the last owner may be a thread without the GIL.
  ~log_sink() { (void)callable_.release(); }
  log_sink(const log_sink&) = delete;
  log_sink& operator=(const log_sink&) = delete;

  // Any thread, without the GIL. Does nothing once the interpreter is ending.
  void write(log_level level, std::string_view text) noexcept;

  // With the GIL.
  void clear() noexcept { callable_.reset(); }
  [[nodiscard]] PyObject* callable() const noexcept { return callable_.ptr(); }

  // True while this thread is in write().
  [[nodiscard]] static bool in_a_call() noexcept;

 private:
  nanobind::object callable_;
};

}  // namespace orc::python
