#include "message.h"

#include "call_python.h"
#include "gil.h"

namespace orc::python {

namespace {

constexpr const char* released_text = "the message was released";

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return nb::inst_ptr<received>(self)->get(self, view, flags);
}

void release_buffer(PyObject* self, Py_buffer*) noexcept { nb::inst_ptr<received>(self)->let_go(); }

const message& alive(const received& self) {
  if (self.released()) throw nb::value_error(released_text);
  return self.sample();
}

nb::object array_of(nb::handle self, nb::handle dtype) {
  nb::object made = nb::steal(call_python("orc._arrays", "array_of", Py_BuildValue("(OO)", self.ptr(), dtype.ptr())));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

nb::object value_of(nb::handle self) {
  const received& sample = *nb::inst_ptr<received>(self);
  alive(sample);
  const nb::handle codec = sample.codec();
  if (codec.is_none()) return nb::steal(PyBytes_FromObject(self.ptr()));
  return codec.attr("decode")(self);
}

}  // namespace

void received::release() {
  if (views_ != 0) {
    PyErr_Format(PyExc_BufferError, "the message has %zd views (memoryviews, arrays): drop them first", views_);
    throw nb::python_error();
  }
  sample_ = message();
}

int received::get(PyObject* self, Py_buffer* view, int flags) noexcept {
  static char nothing = 0;
  if (released()) {
    PyErr_SetString(PyExc_ValueError, released_text);
    view->obj = nullptr;
    return -1;
  }
  void* const bytes = sample_.size() != 0 ? const_cast<void*>(sample_.data()) : &nothing;
  if (PyBuffer_FillInfo(view, self, bytes, static_cast<Py_ssize_t>(sample_.size()), 1, flags) != 0) return -1;
  ++views_;
  return 0;
}

void bind_message(nb::module_& m) {
  PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                         {0, nullptr}};
  nb::class_<received>(m, "Message", nb::type_slots(slots), nb::is_final(),
                       "A received sample: a read-only buffer for bytes(m), memoryview(m) and numpy.frombuffer(m).\n\n"
                       "Over shm the bytes are in the publisher's memory. The publisher does not reuse that memory "
                       "until the message and all views of it are gone. One thread at a time may use a message.")
      .def("__len__", [](const received& self) { return alive(self).size(); })
      .def("__bool__", [](const received&) { return true; })
      .def("__repr__",
           [](const received& self) {
             if (self.released()) return nb::steal<nb::str>(PyUnicode_FromString("<orc.Message released>"));
             return nb::steal<nb::str>(PyUnicode_FromFormat("<orc.Message sequence=%llu, %zd bytes, missed=%llu>",
                                                            static_cast<unsigned long long>(self.sample().sequence()),
                                                            static_cast<Py_ssize_t>(self.sample().size()),
                                                            static_cast<unsigned long long>(self.missed())));
           })
      .def_prop_ro(
          "sequence", [](const received& self) { return alive(self).sequence(); },
          "Counts the samples of one publication, from 1. A publisher that restarts begins at 1 again. On open "
          "multicast, counts samples received on the channel, from any sender.")
      .def_prop_ro(
          "publisher", [](const received& self) { return alive(self).publisher(); },
          "Of a shared topic: the publisher's number, from 1 (Subscriber.publisher_of). 0: the topic is not shared.")
      .def_prop_ro(
          "stamp_ns", [](const received& self) { return alive(self).stamp_ns(); },
          "When the sample was sent: ns since the Unix epoch, on the sending host's clock. Over multicast without "
          "forward error correction: when it reached this host.")
      .def_prop_ro(
          "missed", [](const received& self) { return alive(self), self.missed(); },
          "Samples of the same publication that were skipped since the previous one that this subscription returned.")
      .def_prop_ro(
          "age_ns", [](const received& self) { return alive(self).age_ns(); },
          "Now minus stamp_ns, in ns. Between hosts it is as accurate as their clocks agree.")
      .def("array", &array_of, nb::arg("dtype"),
           "The bytes as a read-only numpy array of `dtype`, without a copy. The message lives as long as the array. "
           "Raises ValueError if the size is no multiple of `dtype`'s, and ImportError without numpy.")
      .def("value", &value_of,
           "The sample as a value of the type that request_topic was given; without a type: as bytes. A struct is a "
           "read-only view of the message's bytes, without a copy: the message lives as long as the view.\n\n"
           "Raises BadSample if the bytes are no sample of that type.")
      .def("release", &received::release,
           "Gives the memory back at once. Later uses raise ValueError. Raises BufferError while views of it exist.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__", [](received& self, nb::handle, nb::handle, nb::handle) { self.release(); },
          nb::arg("exc_type").none(), nb::arg("exc_value").none(), nb::arg("traceback").none());
}

}  // namespace orc::python
