// Python code on a thread of ORC, or in a call of Python that gave the GIL.
#pragma once

#include <type_traits>

namespace orc::python {

namespace python_thread {

// Takes the GIL, which this thread does not hold. The thread keeps its state of Python until it ends, so
// threading.local lasts, and the next call is quick.
void enter();
// Gives the GIL.
void leave() noexcept;

}  // namespace python_thread

// Runs `work` with the GIL. Not a scope object, because nothing may be unwound where Python ends the thread
// (call_python.h).
template <typename Work>
void with_gil(Work&& work) {
  static_assert(std::is_nothrow_invocable_v<Work>, "an exception must not leave a thread with the GIL");
  python_thread::enter();
  work();
  python_thread::leave();
}

}  // namespace orc::python
