// The end of the interpreter, and the few threads of ours that may be left then.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

namespace orc::python {

class session;

namespace interpreter {

// From the module's start: arranges that everything is closed before the interpreter ends (atexit).
void watch_end();

// True from that moment on. Any thread. Python code goes on to run: other atexit handlers, and daemon threads, which
// those may wait for.
[[nodiscard]] bool is_ending() noexcept;

// Sessions that are closed at the end, and how many are being closed, which the end waits for. With the GIL.
void add(session* living);
void remove(session* living) noexcept;
void closes();
void closed() noexcept;

// Runs `work`, which must not touch Python, on a thread of its own; the end of the interpreter waits for it. With the
// GIL. Throws std::system_error when there is no thread.
void run_beside(std::function<void()> work);

}  // namespace interpreter

}  // namespace orc::python
