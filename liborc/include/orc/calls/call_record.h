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
// A record has so many bytes of a request or a reply at most.
inline constexpr std::size_t max_recorded_bytes = 65'536;
// And so many of a request that never ran. Anyone can send such requests at any rate.
inline constexpr std::size_t max_recorded_bytes_of_unrun = 1024;
// Bytes of a record.
inline constexpr std::size_t max_call_record_bytes = std::size_t{1} << 20;

// A request or a reply.
struct call_payload {
  std::size_t size = 0;    // of all of it
  std::string bytes = {};  // its beginning
  bool is_json =
      false;            // a JSON text in UTF-8; U+FFFD stands for bytes that are no UTF-8, so it may be 3 times as long
  bool is_cut = false;  // its end is missing
};

// A call that has ended, as its server saw it. Times are those of the server's wall clock, in ns since the Unix epoch.
struct call_record {
  call_client client = {};       // who called
  std::uint64_t connection = 0;  // the client's id in the names of its topics; ids of calls rise in one connection
  std::uint64_t id = 0;          // of the call
  std::int64_t received_ns = 0;  // when the server took the request; before, it may have waited on its way
  std::int64_t started_ns = 0;   // when the handler began; 0: it never ran
  std::int64_t finished_ns = 0;  // when the reply or the error was sent
  std::int64_t deadline_ns = 0;  // when the client stops waiting
  call_error error = {};         // how it ended; call_errc::ok: the handler replied, and there is a reply
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

// Reads a sample of that topic. It may come from a stranger. Then the texts can hold anything, and `found` is only
// bounded by the size of a record. There is a reply if and only if the code is ok.
// - bad_argument: it is no record; the message says why.
// - no_memory: there is none to read it.
[[nodiscard]] ORC_API result read_call_record(std::span<const std::byte> sample, call_record& found);

}  // namespace orc
