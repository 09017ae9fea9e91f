// The end of the interpreter, and our few threads that may be left then.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

namespace orc::python {

class session;

namespace interpreter {

// At the module's start: makes atexit close everything before the interpreter ends.
void watch_end();

// True from that moment on. Any thread. Python code still runs then: other atexit handlers, and daemon threads for
// which those may wait.
[[nodiscard]] bool is_ending() noexcept;

// Sessions to close at the end, and how many are closing, for which the end waits. With the GIL.
void add(session* living);
void remove(session* living) noexcept;
void closes();
void closed() noexcept;

// Runs `work` on a thread of its own. `work` must not touch Python. The end of the interpreter waits for it. With the
// GIL. Throws std::system_error when no thread can be started.
void run_beside(std::function<void()> work);

// The same, for work that waits for functions of the program: the end of the interpreter does not wait for it.
void leave(std::function<void()> work);

}  // namespace interpreter

}  // namespace orc::python
