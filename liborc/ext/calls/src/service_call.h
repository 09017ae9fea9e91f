// A call that a service has received, from its arrival to its reply.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orc/calls/call_context.h"
#include "orc/calls/call_error.h"
#include "orc/calls/service.h"
#include "orc/message.h"
#include "wakeup.h"

namespace orc::detail {

class service_client;

// The fields without a lock are const, atomic, or belong to the thread that runs the handler.
class service_call : public reply_writer {
 public:
  service_call(std::shared_ptr<service_client> of, std::uint64_t number, steady::time_point until, message&& received);

  // The request's payload. Waiting requests may be copied out of the message.
  [[nodiscard]] std::span<const std::byte> request() const noexcept;
  void copy_request();

  [[nodiscard]] std::byte* reserve(std::size_t size) override;
  [[nodiscard]] bool reserved() const noexcept override { return reply || no_memory; }
  void reject(call_errc why) override { error = {.code = why}; }

  const std::shared_ptr<service_client> client;
  const std::uint64_t id;
  const steady::time_point deadline;
  std::atomic<bool> cancelled{false};

  // ---- the handler's thread ----
  orc::loan reply;
  bool no_memory = false;
  std::optional<call_error> error;

  // ---- guarded by the client ----
  bool feedback_is_on_its_way = false;
  std::optional<std::vector<std::byte>> next_feedback;

 private:
  message message_;
  std::vector<std::byte> copy_;
};

}  // namespace orc::detail
