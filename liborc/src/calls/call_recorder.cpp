#include "calls/call_recorder.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "calls/call_record_json.h"
#include "calls/service_call.h"
#include "calls/service_client.h"
#include "calls/service_json.h"

namespace orc::detail {

namespace {

[[nodiscard]] call_payload payload_of(std::span<const std::byte> bytes, bool is_json, std::size_t most) {
  const std::size_t kept = std::min(bytes.size(), most);
  return {.size = bytes.size(),
          .bytes = std::string(reinterpret_cast<const char*>(bytes.data()), kept),
          .is_json = is_json,
          .is_cut = kept < bytes.size()};
}

[[nodiscard]] bool is_json(const type_description& type) { return type.message_encoding == "json"; }

// As the client is sent it. Of a call that was too late for its handler the code says why.
[[nodiscard]] call_error error_of(const call_error& error, const service_call& call, bool is_late) {
  if (error.code == call_errc::lost && call.started_ns == 0 && (is_late || call.cancelled))
    return {.code = is_late ? call_errc::deadline_exceeded : call_errc::cancelled};
  return {.code = error.code,
          .number = error.number,
          .text = std::string(cut(error.text, max_error_text)),
          .exception_type = std::string(cut(error.exception_type, max_exception_type))};
}

}  // namespace

call_recorder::call_recorder(orc::participant& by, std::string_view service, const call_types& types)
    : participant_(by),
      topic_(call_record_topic(service)),
      type_(call_record_type(types)),
      request_is_json_(is_json(types.request)),
      reply_is_json_(is_json(types.reply)) {}

result call_recorder::start(transport_set transports) {
  records_ = participant_.register_topic(topic_, {.transports = transports, .type = type_, .keep_last = false});
  return records_.result();
}

void call_recorder::stop() noexcept { (void)participant_.unregister_topic(topic_); }

std::int64_t call_recorder::now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::optional<call_payload> call_recorder::keep_reply(std::span<const std::byte> bytes) const noexcept try {
  if (records_.readers() == 0) return std::nullopt;
  return payload_of(bytes, reply_is_json_, max_recorded_bytes);
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void call_recorder::record(const service_call& call, const call_error& error,
                           std::optional<call_payload>&& reply) noexcept try {
  const bool has_lost_its_reply = error.code == call_errc::ok && !reply;  // a subscriber came meanwhile
  if (has_lost_its_reply || records_.readers() == 0) return;
  const std::int64_t finished_ns = now_ns();
  const std::size_t most = call.started_ns != 0 ? max_recorded_bytes : max_recorded_bytes_of_unrun;
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(call.deadline - monotonic::now()).count();
  const std::string record = to_json({.client = call.client->identity(),
                                      .connection = call.client->id(),
                                      .id = call.id,
                                      .received_ns = call.received_ns,
                                      .started_ns = call.started_ns,
                                      .finished_ns = finished_ns,
                                      .deadline_ns = finished_ns + left,
                                      .error = error_of(error, call, left <= 0),
                                      .cancelled = call.cancelled || left <= 0,
                                      .request = payload_of(call.request(), request_is_json_, most),
                                      .reply = std::move(reply)});
  (void)records_.send(record.data(), record.size());
} catch (const std::exception&) {
  // Out of memory: this call is not recorded.
}

}  // namespace orc::detail
