// A received sample as a Python object with the buffer protocol.
#pragma once

#include <nanobind/nanobind.h>

#include "orc.h"

namespace orc::python {

// The bytes stay where they were received (over shm: in the slot) until the object and all views of it are gone, or
// until release(). With the GIL.
class received {
 public:
  // `further`: skipped samples besides those that `sample` counts. `codec`: orc._typed.codec.Typed, or None.
  received(message&& sample, std::uint64_t further, nanobind::object codec) noexcept
      : sample_(std::move(sample)), further_(further), codec_(std::move(codec)) {}

  [[nodiscard]] const message& sample() const noexcept { return sample_; }
  [[nodiscard]] bool released() const noexcept { return !sample_; }
  [[nodiscard]] std::uint64_t missed() const noexcept { return sample_.missed() + further_; }
  [[nodiscard]] nanobind::handle codec() const noexcept { return codec_; }
  // Gives the memory back. A second call does nothing. Raises BufferError while views exist.
  void release();

  // For the buffer protocol.
  int get(PyObject* self, Py_buffer* view, int flags) noexcept;
  void let_go() noexcept { --views_; }

 private:
  message sample_;
  std::uint64_t further_;
  nanobind::object codec_;
  Py_ssize_t views_ = 0;
};

void bind_message(nanobind::module_& m);

}  // namespace orc::python
