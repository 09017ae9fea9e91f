#include "publisher.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "buffers.h"
#include "errors.h"
#include "gil.h"

namespace orc::python {

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return nb::inst_ptr<lent>(self)->get(self, view, flags);
}

void release_buffer(PyObject* self, Py_buffer*) noexcept { nb::inst_ptr<lent>(self)->let_go(); }

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<lent>(self)->view());
  Py_VISIT(nb::inst_ptr<lent>(self)->owner());
  return 0;
}

int clear(PyObject* self) noexcept {
  if (nb::inst_ready(self)) nb::inst_ptr<lent>(self)->clear();
  return 0;
}

void bind_loan(nb::module_& m) {
  PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                         {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                         {0, nullptr}};
  nb::class_<lent>(
      m, "Loan", nb::type_slots(slots), nb::is_final(),
      "Memory for one sample: `with publisher.loan(size) as view:` gives a writable memoryview. Leaving the block "
      "sends it, and raises the errors of send_msg. Leaving by an exception sends nothing.\n\n"
      "Raises BufferError, and sends nothing, when other views of the memory outlive the block. One thread at a time "
      "may use a loan.")
      .def("__enter__", [](nb::handle self) { return nb::inst_ptr<lent>(self)->enter(self); })
      .def(
          "__exit__", [](lent& self, nb::handle type, nb::handle, nb::handle) { self.exit(!type.is_none()); },
          nb::arg("exc_type").none(), nb::arg("exc_value").none(), nb::arg("traceback").none());
}

}  // namespace

void publisher_handle::send_msg(nb::handle data, std::optional<std::int64_t> stamp_ns) {
  const readable_bytes bytes(data);
  const errc code = without_gil([&]() noexcept {
    return (stamp_ns ? end.send(bytes.data(), bytes.size(), *stamp_ns) : end.send(bytes.data(), bytes.size())).code();
  });
  if (code != errc::ok) fail(code);
}

bool publisher_handle::wait_readers(std::size_t count, int timeout_ms) {
  patience left(timeout_ms);
  for (;;) {
    const int slice = left.slice();
    const errc code = without_gil([&]() noexcept { return end.wait_readers(count, slice).code(); });
    if (code == errc::ok) return true;
    if (code != errc::timed_out) fail_to_wait(code);
    raise_signals();
    if (!left.goes_on()) return false;
  }
}

void bind_publisher(nb::module_& m) {
  bind_loan(m);
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner<publisher_handle>)}, {0, nullptr}};
  nb::class_<publisher_handle>(
      m, "Publisher", nb::type_slots(slots),
      "The sending end of a topic (liborc/include/orc/publisher.h). Any thread may make any call. Calls raise Closed "
      "after unregister_topic.")
      .def(nb::init<const publisher_handle&>(), nb::arg("same"))
      .def_ro("topic", &publisher_handle::topic, "The topic's name.")
      .def("send_msg", &publisher_handle::send_msg, nb::arg("data"), nb::arg("stamp_ns") = nb::none(),
           "Sends one sample, any C-contiguous buffer, to every subscriber and returns. Never waits for a subscriber, "
           "the broker or the network.\n\n"
           "stamp_ns: when it was sent, in ns since 1970, if that is not now: in another network, or in a recording. "
           "Multicast has no stamps.\n\n"
           "Raises TypeError (no buffer), ValueError or BufferError (not contiguous), BadArgument (too large for a "
           "transport of this topic, a stamp below 1), NoMemory, Closed, Forked.")
      .def(
          "loan", [](const publisher_handle& self, std::size_t size) { return new lent(self, size); }, nb::arg("size"),
          "Returns memory for a sample of `size` bytes, to fill in place. Raises NoMemory, Closed, Forked.")
      .def_prop_ro(
          "readers",
          [](const publisher_handle& self) { return without_gil([&]() noexcept { return self.end.readers(); }); },
          "How many links are up.")
      .def(
          "wait_readers",
          [](publisher_handle& self, std::size_t count, nb::handle timeout_ms) {
            return self.wait_readers(count, to_int(timeout_ms, "timeout_ms"));
          },
          nb::arg("count"), nb::arg("timeout_ms"),
          "Waits until at least `count` links are up, at most timeout_ms (-1: for ever). Returns False when fewer came "
          "up. Raises Closed, Forked, BadArgument (timeout_ms below -1).")
      .def("__repr__", [](const publisher_handle& self) {
        const auto readers = without_gil([&]() noexcept { return self.end.readers(); });
        return "<orc.Publisher '" + self.topic + "', " + std::to_string(readers) +
               (readers == 1 ? " reader>" : " readers>");
      });
}

}  // namespace orc::python
