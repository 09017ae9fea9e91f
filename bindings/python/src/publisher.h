// The sending end of a topic, and loans of its memory.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "orc.h"
#include "session.h"
#include "session_ref.h"

namespace orc::python {

// With the GIL.
struct publisher_handle {
  session_ref owner;
  orc::publisher end;
  std::string topic;

  // Without a stamp: now.
  void send_msg(nanobind::handle data, std::optional<std::int64_t> stamp_ns);
  [[nodiscard]] bool wait_readers(std::size_t count, int timeout_ms);
};

// A loan as a context manager: entering gives a writable memoryview, leaving sends.
class lent {
 public:
  lent(publisher_handle from, std::size_t size);

  [[nodiscard]] nanobind::object enter(nanobind::handle self);
  // Sends, unless the body raised.
  void exit(bool raised);

  // For the buffer protocol.
  int get(PyObject* self, Py_buffer* view, int flags) noexcept;
  void let_go() noexcept { --views_; }
  // For the garbage collector: the memoryview refers to this.
  [[nodiscard]] PyObject* view() const noexcept { return view_.ptr(); }
  [[nodiscard]] PyObject* owner() const noexcept { return from_.owner.object(); }
  void clear() noexcept { view_.reset(); }

 private:
  publisher_handle from_;
  orc::loan memory_;
  nanobind::object view_;
  Py_ssize_t views_ = 0;
  bool entered_ = false;
  bool open_ = false;
};

void bind_publisher(nanobind::module_& m);

}  // namespace orc::python
