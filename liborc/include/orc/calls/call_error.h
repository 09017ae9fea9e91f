// Why a call failed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orc/version.h"

namespace orc {

// How a call ended. The numbers are part of the wire format (schemas/PROTOCOL.md, "Calls").
enum class call_errc : std::uint8_t {
  ok = 0,
  // From the server:
  exception = 1,      // the handler threw; the error has the exception's type and text
  failed = 2,         // the handler called call_context::fail
  busy = 3,           // the service's queue is full
  replaced = 4,       // a newer call of this client took its place (service_options::replace_waiting)
  lost = 5,           // the request or its reply did not arrive: the queue on its way overflowed, or the link failed
  type_mismatch = 6,  // the types of request or reply differ; the text says where
  too_large = 7,      // the transport does not carry a message of this size; the text has the limit
  bad_request = 8,    // the request's bytes are not of its type
  refused = 9,        // the service has no place for another client, or the client says hello too often
  bad_reply = 10,     // the handler's reply cannot be encoded, or its bytes are not of its type
  // From the client itself; server_died and no_memory also from the server:
  deadline_exceeded = 32,  // no reply came in time; the handler may still run
  cancelled = 33,          // call_future::cancel
  server_died = 34,        // the link to the server ended, or another server took its place; the handler may have run
  no_service = 35,         // no service was reached before the deadline; the request was not sent
  too_many_calls = 36,     // this client has max_open_calls open calls, or open calls to max_called_services services
  bad_argument = 37,       // a name or deadline is wrong, or the request cannot be encoded
  no_memory = 38,          // out of memory
  closed = 39,             // the participant ended
  forked = 40,             // made before fork()
  not_ready = 41           // it has not ended yet (call_future::get with a time limit)
};

// Returns the code's name, such as "deadline_exceeded".
[[nodiscard]] ORC_API std::string_view to_string(call_errc code) noexcept;

// Returns one plain sentence per code.
[[nodiscard]] ORC_API std::string_view describe(call_errc code) noexcept;

// The error of a call.
struct call_error {
  call_errc code = call_errc::ok;   // ok: no error
  std::int32_t number = 0;          // failed: what the handler gave to fail()
  std::string text = {};            // for people; of an exception: what()
  std::string exception_type = {};  // exception: its type as C++ or Python writes it: "std::out_of_range"

  // Returns text, or describe(code) when there is none.
  [[nodiscard]] std::string message() const { return text.empty() ? std::string(describe(code)) : text; }
};

}  // namespace orc
