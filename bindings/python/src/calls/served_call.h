// A call that a handler in Python serves, for orc/_calls/context.py.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "orc/calls.h"

namespace orc::python {

// Any thread, without the GIL. After end() it does nothing.
class served_call {
 public:
  served_call(call_context& context, detail::reply_writer& reply)
      : context_(&context), reply_(&reply), deadline_(context.deadline()), client_(context.client()) {}

  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }
  [[nodiscard]] const call_client& client() const noexcept { return client_; }

  [[nodiscard]] bool cancelled() noexcept;
  // False: it was not sent.
  [[nodiscard]] bool feedback(std::span<const std::byte> bytes) noexcept;
  void end_with(call_error why) noexcept;
  // The handler has returned.
  void end() noexcept;

 private:
  std::mutex mutex_;  // guards the two
  call_context* context_;
  detail::reply_writer* reply_;
  const std::chrono::steady_clock::time_point deadline_;
  const call_client client_;
};

// Its Python object, which a program may keep.
struct served_call_handle {
  std::shared_ptr<served_call> call;
  bool has_error = false;  // with the GIL
};

void bind_served_call(nanobind::module_& m);

}  // namespace orc::python
