// Calls into liborc without the GIL: no thread takes liborc's locks while it holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <optional>
#include <type_traits>

#include "call_python.h"
#include "orc.h"

namespace orc::python {

namespace nb = nanobind;

// Runs `call` without the GIL, which the thread holds before and after. Not a scope object, because nothing may be
// unwound where take_gil ends the thread.
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

// The longest wait between two checks for signals: Ctrl-C ends a call within 100 ms.
inline constexpr int slice_ms = 50;

// Runs the handlers of pending signals, and throws what they raise (KeyboardInterrupt). Only the main thread has any.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// How long a call of the user may still wait, in slices.
class patience {
 public:
  explicit patience(int timeout_ms) noexcept : left_ms_(timeout_ms) {}
  // Next slice in ms. Passes bad timeouts on: liborc reports them.
  [[nodiscard]] int slice() noexcept {
    if (left_ms_ != -1 && left_ms_ <= slice_ms) return left_ms_;
    if (left_ms_ != -1 && !ends_) ends_ = clock::now() + std::chrono::milliseconds(left_ms_);
    return slice_ms;
  }
  // After a slice without a result: false when the time is over.
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
