// Publishes the calls of one service on its topic NAME/.calls, for service_options::recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "calls/call_message.h"
#include "orc/calls/call_record.h"
#include "orc/options.h"
#include "orc/participant.h"
#include "orc/publisher.h"

namespace orc::detail {

class service_call;

// Any thread, between start() and stop().
class call_recorder {
 public:
  // `by` must outlive it.
  call_recorder(orc::participant& by, std::string_view service, const call_types& types);

  // Registers the topic; returns what register_topic returns.
  [[nodiscard]] result start(transport_set transports);
  // Unregisters it. Later records are dropped.
  void stop() noexcept;

  // Now, by the wall clock, in ns since the Unix epoch.
  [[nodiscard]] static std::int64_t now_ns() noexcept;
  // A copy of a reply, as far as it is recorded. Nothing: no subscriber listens, or there is no memory.
  [[nodiscard]] std::optional<call_payload> keep_reply(std::span<const std::byte> bytes) const noexcept;
  // Publishes the record of a call that has ended, if a subscriber listens. Never waits. A call that never ran and ends
  // as lost is recorded as cancelled or deadline_exceeded, where it is.
  void record(const service_call& call, const call_error& error, std::optional<call_payload>&& reply) noexcept;

 private:
  orc::participant& participant_;
  const std::string topic_;
  const type_description type_;
  const bool request_is_json_;
  const bool reply_is_json_;
  orc::publisher records_;
};

}  // namespace orc::detail
