#include <nanobind/nanobind.h>

#include "errors.h"
#include "gil.h"
#include "publisher.h"

namespace orc::python {

namespace {

// liborc's loan does not report why it failed.
[[noreturn]] void fail_to_lend(publisher_handle& from, std::size_t size) {
  const errc why = from.owner->with_participant([&](orc::participant& broker) {
    if (broker.send_msg(from.topic, nullptr, 1).code() == errc::forked) return errc::forked;
    return from.end.loan(0) ? errc::no_memory : errc::closed;
  });
  fail(why, why == errc::no_memory ? "no memory for a loan of " + std::to_string(size) + " bytes" : std::string());
}

}  // namespace

lent::lent(publisher_handle from, std::size_t size) : from_(std::move(from)) {
  without_gil([&]() noexcept { memory_ = from_.end.loan(size); });
  if (!memory_) fail_to_lend(from_, size);
}

nb::object lent::enter(nb::handle self) {
  if (!memory_ || entered_) throw nb::value_error("a loan is entered once");
  entered_ = open_ = true;
  view_ = nb::steal(PyMemoryView_FromObject(self.ptr()));
  if (!view_.is_valid()) throw nb::python_error();
  return view_;
}

void lent::exit(bool raised) {
  open_ = false;
  const nb::object view = std::move(view_);
  if (view.is_valid()) {
    const nb::object released = nb::steal(PyObject_CallMethod(view.ptr(), "release", nullptr));
    if (!released.is_valid()) PyErr_Clear();  // a view of it exists: counted in views_
  }
  if (raised) {
    if (views_ == 0) memory_ = orc::loan();
    return;
  }
  if (views_ != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "nothing was sent: views of the loan (memoryviews, arrays) are still there; drop them inside the "
                    "with block");
    throw nb::python_error();
  }
  if (!memory_) throw nb::value_error("a loan is sent once");
  if (!entered_)
    throw nb::value_error("nothing was sent: the loan was not entered (with publisher.loan(size) as view)");
  orc::loan leaving = std::exchange(memory_, orc::loan());  // with the GIL: no other thread enters it from here on
  const errc code = without_gil([&]() noexcept { return from_.end.send(std::move(leaving)).code(); });
  if (code != errc::ok) fail(code);
}

int lent::get(PyObject* self, Py_buffer* view, int flags) noexcept {
  static char nothing = 0;
  if (!open_) {
    PyErr_SetString(PyExc_BufferError, "the memory of a loan is there inside its with block");
    view->obj = nullptr;
    return -1;
  }
  void* const bytes = memory_.size() != 0 ? memory_.data() : &nothing;
  if (PyBuffer_FillInfo(view, self, bytes, static_cast<Py_ssize_t>(memory_.size()), 0, flags) != 0) return -1;
  ++views_;
  return 0;
}

}  // namespace orc::python
