// Services: a program offers a function under a name, and others call it.
//
//   auto service = participant.serve<Close, Closed>("gripper/close", [](const Close& request, orc::call_context&) {
//     return Closed{.width = grip(request.force)};
//   });
//
//   auto closed = participant.call<Closed>("gripper/close", Close{.force = 20}, 100ms).get();
//   if (closed) std::printf("%f\n", closed->width);
//   else std::fprintf(stderr, "%s\n", closed.error().message().c_str());
//
// liborc/doc/guide/services.md is the guide.
//
// serve(name, handler, options) offers a service. `name` is a topic name of at most 231 bytes; one program at a time
// has it. Waits for the broker as register_topic does. The service that it returns has the result: also name_taken when
// this participant serves the name already, and bad_argument when an option is out of range or there is no broker
// ("none").
//
// The handler takes a `const Request&` and a call_context&, and returns a Reply. Without types it takes a
// std::span<const std::byte> and returns a std::vector<std::byte>. What it throws ends the call as
// call_errc::exception; service_options::threads says in which thread it runs. A handler runs at most once per call,
// and never for a call that was cancelled, or whose deadline passed, before it starts. It may make calls itself, but
// not to its own service without threads.
//
// call<Reply>(name, request, deadline) starts a call and returns at once. It needs no earlier set-up: the first call to
// a service makes the connection, and later ones use it. Nothing is sent twice. The deadline is above 0 and at most a
// day. A participant has at most max_open_calls open calls per service; more end at once as call_errc::too_many_calls.
// It has connections to at most max_called_services services; one that is not used for 30 s is closed, or earlier when
// another one needs its place.
//
// wait_for_service(name, timeout) waits until the service has answered through its own links, so messages pass in both
// directions. timed_out: it has not; the message says why. refused: by the service, or there are
// calls open to max_called_services services. bad_name: the name is too long. closed, forked: as in request_topic.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "orc/calls/call_context.h"
#include "orc/calls/call_error.h"
#include "orc/calls/call_future.h"
#include "orc/calls/call_record.h"
#include "orc/calls/find_services.h"
#include "orc/calls/service.h"
#include "orc/participant.h"
#include "orc/typed.h"

namespace orc {

// Open calls of one participant to one service.
inline constexpr std::size_t max_open_calls = 1024;
// Services to which one participant has connections.
inline constexpr std::size_t max_called_services = 256;

namespace detail {

// The type of T with its hash, made once; and whether T's traits object to it.
template <class T>
struct call_type {
  static_assert(typed<T>, "orc/calls.h: the type has no description: see orc/typed.h");

  hashed_type type;
  result checked;

  static const call_type& get() {
    static const call_type made;
    return made;
  }

 private:
  call_type() {
    topic_options options;
    checked = set_type<T>(options);
    type = {options.type, hash_of(options.type)};
  }
};

// `patience`: how long the end of the participant waits for handlers that run. It lets go of the others: their replies
// are dropped, and what they refer to must stay.
[[nodiscard]] ORC_API service serve_raw(orc::participant& by, std::string_view name, const type_description& request,
                                        const type_description& reply, raw_handler handler,
                                        const service_options& options,
                                        std::chrono::nanoseconds patience = std::chrono::nanoseconds::max());

template <class Reply>
void write_reply(const Reply& reply, reply_writer& to) {
  if constexpr (has_bytes<Reply, Reply>) {
    const std::span<const std::byte> bytes = type_traits<Reply>::bytes_of(reply);
    std::byte* const at = to.reserve(bytes.size());
    if (at != nullptr && !bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  } else {
    const std::size_t size = type_traits<Reply>::encoded_size(reply);
    std::byte* const at = to.reserve(size);
    if (at != nullptr && !type_traits<Reply>::encode(reply, std::span(at, size)))
      to.reject({.code = call_errc::bad_reply});
  }
}

}  // namespace detail

template <class Request, class Reply, class Handler>
service participant::serve(std::string_view name, Handler handler, const service_options& options) {
  for (const result* const checked :
       {&detail::call_type<Request>::get().checked, &detail::call_type<Reply>::get().checked}) {
    if (!*checked) return {nullptr, *checked};
  }
  return detail::serve_raw(
      *this, name, detail::call_type<Request>::get().type.type, detail::call_type<Reply>::get().type.type,
      [handler = std::move(handler)](std::span<const std::byte> bytes, call_context& context,
                                     detail::reply_writer& to) mutable {
        typename detail::view_of<Request>::type request;
        if (const errc opened = detail::open_view(request, bytes); opened != errc::ok) {
          to.reject({.code = opened == errc::no_memory ? call_errc::no_memory : call_errc::bad_request});
          return;
        }
        const Reply reply = handler(*request.get(), context);
        if (!to.reserved()) detail::write_reply(reply, to);
      },
      options);
}

template <class Request, class Reply, class Handler>
service participant::serve(std::string_view name, Handler handler) {
  return serve<Request, Reply>(name, std::move(handler), service_options{});
}

template <class Reply, class Request>
call_future<Reply> participant::call(std::string_view name, const Request& request, std::chrono::nanoseconds deadline) {
  const auto& sent = detail::call_type<Request>::get();
  const auto& expected = detail::call_type<Reply>::get();
  for (const result* const checked : {&sent.checked, &expected.checked}) {
    if (!*checked)
      return call_future<Reply>(
          detail::failed_call({.code = call_errc::bad_argument, .text = checked->error().message()}));
  }
  const auto start = [&](std::size_t size, const detail::request_writer& write) {
    return call_future<Reply>(detail::start_call(*this, name, sent.type, expected.type, deadline, size, write));
  };
  if constexpr (detail::has_bytes<Request, Request>) {
    const std::span<const std::byte> bytes = type_traits<Request>::bytes_of(request);
    return start(bytes.size(), [bytes](std::span<std::byte> to) {
      if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
      return true;
    });
  } else {
    return start(type_traits<Request>::encoded_size(request),
                 [&request](std::span<std::byte> to) { return type_traits<Request>::encode(request, to); });
  }
}

}  // namespace orc
