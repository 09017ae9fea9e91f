#include "subscription.h"

#include <utility>

#include "errors.h"
#include "gil.h"
#include "message.h"

namespace orc::python {

nb::object subscription::receive(int timeout_ms, way how, const nb::object& codec) {
  patience left(timeout_ms);
  for (;;) {
    if (left_) {
      if (nb::object kept = take_left(how, codec); kept.is_valid()) return kept;
    }
    const int slice = left.slice();
    const auto before = handed_over_;
    message sample = without_gil([&]() noexcept { return (end.*how)(slice); });
    if (sample) {
      // Only the main thread runs handlers and so leaves a sample. When one is there, this is another thread.
      const bool late = newest_only_ && handed_over_ != before;
      if (slice == 0 || left_ || late) {
        const message skipped = newest_only_ ? std::exchange(left_, message()) : message();
        return hand_over(std::move(sample), skipped, codec);
      }
      left_ = std::move(sample);
      raise_signals();
      if (left_) return hand_over(std::exchange(left_, message()), message(), codec);
    } else {
      const errc why = sample.status();
      if (why == errc::nothing_new) return nb::none();
      if (why != errc::timed_out) fail_to_wait(why);
      raise_signals();
    }
    if (!left.goes_on()) return nb::none();
  }
}

nb::object subscription::hand_over(message&& sample, const message& skipped, const nb::object& codec) {
  ++handed_over_;
  const bool in_a_row = skipped && sample.publisher() == skipped.publisher() &&
                        sample.sequence() == skipped.sequence() + sample.missed() + 1;
  return nb::cast(received(std::move(sample), in_a_row ? skipped.missed() + 1 : 0, codec), nb::rv_policy::move);
}

// Returns the sample that an interrupted call left, or a newer one with conflate=1. Nothing when another thread has
// returned that meanwhile.
nb::object subscription::take_left(way how, const nb::object& codec) {
  message kept = std::exchange(left_, message());
  const auto before = handed_over_;
  const bool look = newest_only_ && how == static_cast<way>(&orc::subscriber::recv);
  errc now = errc::ok;
  message newer = without_gil([&]() noexcept {
    now = end.wait_connected(0).code();
    return look && now != errc::closed && now != errc::forked ? end.recv(0) : message();
  });
  if (now == errc::closed || now == errc::forked) fail(now);
  if (newer) return hand_over(std::move(newer), kept, codec);
  if (newest_only_ && handed_over_ != before) return {};
  return hand_over(std::move(kept), message(), codec);
}

}  // namespace orc::python
