// What a recorded service published of a call: schemas/PROTOCOL.md, "Recorded calls".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "orc/calls/call_context.h"
#include "orc/calls/call_error.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// The name of the type of such a topic.
inline constexpr std::string_view call_record_type_name = "orc.Call";
// Bytes of a request or a reply in a record. Longer ones are cut.
inline constexpr std::size_t max_recorded_bytes = 65'536;
// Bytes of a record.
inline constexpr std::size_t max_call_record_bytes = std::size_t{1} << 20;

// A request or a reply.
struct call_payload {
  std::size_t size = 0;    // when it was sent
  std::string bytes = {};  // the first max_recorded_bytes of it
  bool is_json = false;    // a JSON text in UTF-8; bytes that are no UTF-8 are replaced by U+FFFD

  // Whether the end is missing.
  [[nodiscard]] bool is_cut() const noexcept { return size > max_recorded_bytes; }
};

// A call that has ended, as its server saw it. Times are those of the server's wall clock, in ns since the Unix epoch.
struct call_record {
  call_client client = {};       // who called
  std::uint64_t connection = 0;  // the client's id in the names of its topics; ids of calls rise in one connection
  std::uint64_t id = 0;          // of the call
  std::int64_t received_ns = 0;  // when the request arrived
  std::int64_t started_ns = 0;   // when the handler began; 0: it never ran
  std::int64_t finished_ns = 0;  // when the reply or the error was sent
  std::int64_t deadline_ns = 0;  // when the client stops waiting
  call_error error = {};         // how it ended; call_errc::ok: with the reply
  bool cancelled = false;        // at the end the client had cancelled it, or its deadline had passed
  call_payload request = {};     // the request
  std::optional<call_payload> reply = {};  // nothing: it ended with an error
};

// Returns the name of the topic with the calls of a service: NAME/.calls.
[[nodiscard]] ORC_API std::string call_record_topic(std::string_view service);

// Whether a topic has such a name.
[[nodiscard]] constexpr bool is_call_record_topic(std::string_view topic) noexcept {
  return topic.ends_with("/.calls") && topic.size() > std::string_view("/.calls").size();
}

// Reads a sample of that topic. The sample may come from a stranger: sizes are as above, texts are what it wrote.
// - bad_argument: it is no record; the message says why.
[[nodiscard]] ORC_API result read_call_record(std::span<const std::byte> sample, call_record& found);

}  // namespace orc
