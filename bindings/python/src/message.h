// A received sample as a Python object with the buffer protocol.
#pragma once

#include <nanobind/nanobind.h>

#include "orc.h"

namespace orc::python {

// The bytes stay where they were received (over shm: the slot itself) until the object and all views of it are gone, or
// release(). With the GIL.
class received {
 public:
  // further: samples that were skipped besides those that `sample` counts.
  received(message&& sample, std::uint64_t further) noexcept : sample_(std::move(sample)), further_(further) {}

  [[nodiscard]] const message& sample() const noexcept { return sample_; }
  [[nodiscard]] bool released() const noexcept { return !sample_; }
  [[nodiscard]] std::uint64_t missed() const noexcept { return sample_.missed() + further_; }
  // Gives the place back. Again: nothing. Raises BufferError while there are views.
  void release();

  // The buffer protocol's.
  int get(PyObject* self, Py_buffer* view, int flags) noexcept;
  void let_go() noexcept { --views_; }

 private:
  message sample_;
  std::uint64_t further_;
  Py_ssize_t views_ = 0;
};

void bind_message(nanobind::module_& m);

}  // namespace orc::python
