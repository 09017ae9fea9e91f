// Calls into liborc without the GIL: its locks are never taken by a thread that holds it.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <type_traits>

#include "call_python.h"
#include "orc.h"

namespace orc::python {

namespace nb = nanobind;

// Runs `call` without the GIL, which the thread holds before and after. Not by a scope object: where
// take_gil ends the thread nothing must be unwound.
template <typename Call>
auto without_gil(Call&& call) {
  static_assert(std::is_nothrow_invocable_v<Call>, "an exception must not pass a thread without the GIL");
  PyThreadState* const thread = PyEval_SaveThread();
  if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
    call();
    take_gil(thread);
  } else {
    auto result = call();
    take_gil(thread);
    return result;
  }
}

// The longest that a thread waits without looking whether there was a signal: Ctrl-C ends a call within 100 ms.
inline constexpr int slice_ms = 50;

// Runs the handlers of signals that came; throws what they raise (KeyboardInterrupt). Only the main thread has any.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// How long a call of the user's may still wait, a slice at a time.
class patience {
 public:
  explicit patience(int timeout_ms) noexcept : left_ms_(timeout_ms) {}
  // What to wait next, in ms. Timeouts that make no sense are passed on: liborc tells.
  [[nodiscard]] int slice() noexcept {
    if (left_ms_ != -1 && left_ms_ <= slice_ms) return left_ms_;
    if (left_ms_ != -1 && !ends_) ends_ = clock::now() + std::chrono::milliseconds(left_ms_);
    return slice_ms;
  }
  // After a slice without a result: false when that was all.
  [[nodiscard]] bool goes_on() noexcept {
    if (left_ms_ == -1) return true;
    if (!ends_) return false;
    left_ms_ = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*ends_ - clock::now()).count());
    return left_ms_ > 0;
  }

 private:
  using clock = std::chrono::steady_clock;
  int left_ms_;
  std::optional<clock::time_point> ends_;
};

}  // namespace orc::python
