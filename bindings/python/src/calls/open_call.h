// The calling end for orc/_calls/future.py. No thread of ORC takes the GIL for it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "calls/call_ends.h"
#include "orc/calls/raw_call.h"
#include "session.h"

namespace orc::python {

// All calls with the GIL; several threads may be in them.
class open_call {
 public:
  explicit open_call(detail::raw_call call) noexcept : call_(std::move(call)) {}
  // Cancels the call, unless it has ended.
  ~open_call();
  open_call(const open_call&) = delete;
  open_call& operator=(const open_call&) = delete;

  // Waits until the call has ended, at most so long. The thread receives itself.
  [[nodiscard]] bool wait(double seconds);
  // Waits for the end. Returns the reply as bytes, or a CallError.
  [[nodiscard]] nanobind::object result();
  // The newest feedback that was not returned yet, as bytes, or None.
  [[nodiscard]] nanobind::object take_feedback();
  void cancel() noexcept;
  // Raises NoDescriptors, Forked.
  [[nodiscard]] int descriptor();
  // Puts the token into `ends` when the call has ended.
  void notify(const call_ends_handle& ends, std::uint64_t token);

 private:
  detail::raw_call call_;
  bool ended_ = false;
};

// Starts a call that ends at `ends`, a time of time.monotonic(). Raises Closed, NoMemory, TypeError (no buffer).
[[nodiscard]] open_call* start_call(session& by, std::string_view service, const detail::hashed_type& request,
                                    const detail::hashed_type& reply, nanobind::handle payload, double ends);

// A call that ended before it began.
[[nodiscard]] open_call* failed_call(int code, std::string text);

// Raises what Participant.wait_for_service lists. `ends`: as above.
void wait_for_service(session& by, std::string_view service, double ends);

void bind_open_call(nanobind::module_& m);

}  // namespace orc::python
