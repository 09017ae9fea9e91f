#include "calls/python_thread.h"

#include <unistd.h>

#include "call_python.h"
#include "interpreter.h"

namespace orc::python::python_thread {

namespace {

struct own_state {
  PyThreadState* thread = nullptr;
  pid_t process = -1;

  own_state() = default;
  own_state(const own_state&) = delete;
  own_state& operator=(const own_state&) = delete;
  // The end of the interpreter removes the states that are left. In the child of a fork() it is that of its program.
  ~own_state() {
    if (thread != nullptr && process == getpid() && !interpreter::is_ending()) remove_thread(thread);
  }
};

thread_local own_state own;

}  // namespace

void enter() {
  if (own.thread != nullptr) return take_gil(own.thread);
  // A thread of Python, in a call that gave the GIL
  if (PyThreadState* const known = PyGILState_GetThisThreadState()) return take_gil(known);
  own.thread = add_thread();
  own.process = getpid();
}

void leave() noexcept { (void)PyEval_SaveThread(); }

}  // namespace orc::python::python_thread
