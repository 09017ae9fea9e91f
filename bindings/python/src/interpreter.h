// The end of the interpreter, and the few threads of ours that may be left then.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

namespace orc::python {

class session;

namespace interpreter {

// From the module's start: arranges that everything is closed before the interpreter ends (atexit).
void watch_end();

// True from that moment on. Any thread.
[[nodiscard]] bool is_ending() noexcept;

// Takes the GIL again. A thread that returns from liborc when the interpreter is ending stays here until the process is
// gone: Python would end it by unwinding its stack, which aborts the process where C++ must not be unwound. It can only
// be a daemon thread. (From 3.14 on Python itself does so.)
void come_back(PyThreadState* thread) noexcept;

// Sessions that are closed at the end. With the GIL.
void add(session* living);
void remove(session* living) noexcept;

// Runs `work`, which must not touch Python, on a thread of its own; the end of the interpreter waits for it. With the
// GIL. Throws std::system_error when there is no thread.
void run_beside(std::function<void()> work);

}  // namespace interpreter

}  // namespace orc::python
