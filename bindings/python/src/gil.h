// Calls into liborc without the GIL: no thread takes liborc's locks while it holds the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
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

// How long a call of the user may still wait, in slices. By ORC's clock: a replay then makes as many slices. The first
// look at the clock comes after the first slice, so that a thread's first call of liborc is the user's.
class patience {
 public:
  explicit patience(int timeout_ms) noexcept : left_ms_(timeout_ms) {}
  // Next slice in ms. Passes bad timeouts on: liborc reports them.
  [[nodiscard]] int slice() const noexcept { return left_ms_ != -1 && left_ms_ <= slice_ms ? left_ms_ : slice_ms; }
  // After a slice without a result: false when the time is over.
  [[nodiscard]] bool goes_on() noexcept {
    if (left_ms_ == -1) return true;
    if (!ends_ && left_ms_ <= slice_ms) return false;
    const std::int64_t now = orc::monotonic_ns();
    if (!ends_) ends_ = now + (left_ms_ - slice_ms) * std::int64_t{1'000'000};
    left_ms_ = static_cast<int>((*ends_ - now + 999'999) / 1'000'000);
    return left_ms_ > 0;
  }

 private:
  int left_ms_;
  std::optional<std::int64_t> ends_;  // ns
};

}  // namespace orc::python
