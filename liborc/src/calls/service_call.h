// A call that a service has received, from its arrival to its reply.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "calls/call_message.h"
#include "orc/calls/call_context.h"
#include "orc/calls/call_error.h"
#include "orc/calls/service.h"
#include "orc/message.h"
#include "orc/publisher.h"

namespace orc::detail {

class service_client;

// The fields without a lock are const, atomic, or belong to the thread that runs the handler.
class service_call : public reply_writer {
 public:
  service_call(std::shared_ptr<service_client> of, std::uint64_t number, monotonic::time_point until,
               message&& received);

  // The request's payload. Waiting requests may be copied out of the message.
  [[nodiscard]] std::span<const std::byte> request() const noexcept;
  void copy_request();

  [[nodiscard]] std::byte* reserve(std::size_t size) override;
  [[nodiscard]] bool reserved() const noexcept override { return small_size_ != 0 || large_ || no_memory; }
  void reject(call_error why) override { error = std::move(why); }

  const std::shared_ptr<service_client> client;
  const std::uint64_t id;
  const monotonic::time_point deadline;
  std::atomic<bool> cancelled{false};  // by the client
  std::atomic<bool> abandoned{false};  // the link to the client or the service ended

  // ---- the handler's thread ----
  // The reply's message, whose header is still to be written. Empty: none was reserved.
  [[nodiscard]] std::span<std::byte> reply() noexcept;
  // Sends the reply's message.
  [[nodiscard]] result send_reply(orc::publisher& to) noexcept;
  bool no_memory = false;
  std::optional<call_error> error;

  // ---- of a recorded service: call_record ----
  std::int64_t received_ns = 0;
  std::int64_t started_ns = 0;

  // ---- guarded by the client ----
  bool feedback_is_on_its_way = false;
  std::optional<std::vector<std::byte>> next_feedback;

 private:
  message message_;
  std::vector<std::byte> copy_;
  std::array<std::byte, small_message> small_;  // the reply, or
  std::size_t small_size_ = 0;
  orc::loan large_;
};

}  // namespace orc::detail
