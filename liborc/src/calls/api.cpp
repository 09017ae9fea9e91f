// The public functions.
#include <cstring>
#include <utility>

#include "base/process/fork_generation.h"
#include "calls/calls_component.h"
#include "calls/service_json.h"
#include "core/participant/components.h"
#include "orc/calls.h"

namespace orc {

namespace {

using detail::calls_component;
using detail::components;
using detail::monotonic;

constexpr auto longest_deadline = std::chrono::hours(24);

[[nodiscard]] const detail::hashed_type& untyped() {
  static const detail::hashed_type none{{}, hash_of({})};
  return none;
}

}  // namespace

std::string_view to_string(call_errc code) noexcept {
  switch (code) {
    case call_errc::ok: return "ok";
    case call_errc::exception: return "exception";
    case call_errc::failed: return "failed";
    case call_errc::busy: return "busy";
    case call_errc::replaced: return "replaced";
    case call_errc::lost: return "lost";
    case call_errc::type_mismatch: return "type_mismatch";
    case call_errc::too_large: return "too_large";
    case call_errc::bad_request: return "bad_request";
    case call_errc::refused: return "refused";
    case call_errc::bad_reply: return "bad_reply";
    case call_errc::deadline_exceeded: return "deadline_exceeded";
    case call_errc::cancelled: return "cancelled";
    case call_errc::server_died: return "server_died";
    case call_errc::no_service: return "no_service";
    case call_errc::too_many_calls: return "too_many_calls";
    case call_errc::bad_argument: return "bad_argument";
    case call_errc::no_memory: return "no_memory";
    case call_errc::closed: return "closed";
    case call_errc::forked: return "forked";
    case call_errc::not_ready: return "not_ready";
  }
  return "unknown";
}

std::string_view describe(call_errc code) noexcept {
  switch (code) {
    case call_errc::ok: return "the call has a reply";
    case call_errc::exception: return "the handler threw an exception";
    case call_errc::failed: return "the handler reported a failure";
    case call_errc::busy: return "too many requests wait for the service";
    case call_errc::replaced: return "a newer call of this client took its place";
    case call_errc::lost: return "the request or its reply was lost on its way";
    case call_errc::type_mismatch: return "the service has other types";
    case call_errc::too_large: return "the message is too large for the transport";
    case call_errc::bad_request: return "the request's bytes are not of its type";
    case call_errc::refused: return "the service refused this client";
    case call_errc::bad_reply: return "the reply's bytes are not of its type";
    case call_errc::deadline_exceeded: return "no reply came before the deadline";
    case call_errc::cancelled: return "the call was cancelled";
    case call_errc::server_died: return "the server is gone; the call may have run";
    case call_errc::no_service: return "no service was reached before the deadline";
    case call_errc::too_many_calls: return "too many calls are open";
    case call_errc::bad_argument: return "an argument of the call is wrong";
    case call_errc::no_memory: return "out of memory";
    case call_errc::closed: return "the participant has ended";
    case call_errc::forked: return "the call was made before fork()";
    case call_errc::not_ready: return "the call has not ended yet";
  }
  return "unknown error";
}

// ---- services ----

namespace detail {

service serve_raw(orc::participant& by, std::string_view name, const type_description& request,
                  const type_description& reply, raw_handler handler, const service_options& options,
                  std::chrono::nanoseconds patience) {
  const auto component = calls_component::of(by);
  if (!component) return {nullptr, components::why_none(by)};
  result made;
  auto core = component->serve(by.resolve(name), {request, reply}, std::move(handler), options, patience, made);
  return {std::move(core), std::move(made)};
}

bool withdraw(service& of, monotonic::time_point until) noexcept {
  return !of.core_ || of.core_->generation() != fork_generation() || of.core_->leave_owner(until);
}

void leave_to_participant(service&& of) noexcept {
  if (of.core_ && of.core_->generation() == fork_generation())
    of.core_.reset();
  else
    of.withdraw();
}

}  // namespace detail

service participant::serve(std::string_view name,
                           std::function<std::vector<std::byte>(std::span<const std::byte>, call_context&)> handler) {
  return serve(name, std::move(handler), service_options{});
}

service participant::serve(std::string_view name,
                           std::function<std::vector<std::byte>(std::span<const std::byte>, call_context&)> handler,
                           const service_options& options) {
  return detail::serve_raw(
      *this, name, {}, {},
      [handler = std::move(handler)](std::span<const std::byte> request, call_context& context,
                                     detail::reply_writer& to) {
        const std::vector<std::byte> reply = handler(request, context);
        if (to.reserved()) return;
        std::byte* const at = to.reserve(reply.size());
        if (at != nullptr && !reply.empty()) std::memcpy(at, reply.data(), reply.size());
      },
      options);
}

service::service() noexcept = default;
service::service(std::shared_ptr<detail::service_core> core, orc::result made) noexcept
    : core_(std::move(core)), made_(std::move(made)) {}
service::~service() { withdraw(); }
service::service(service&&) noexcept = default;

service& service::operator=(service&& other) noexcept {
  if (this == &other) return *this;
  withdraw();
  core_ = std::move(other.core_);
  made_ = std::move(other.made_);
  return *this;
}

void service::withdraw() noexcept {
  if (!core_) return;
  if (core_->generation() != detail::fork_generation()) {
    // Its threads and locks belong to the parent: never destroyed here.
    static_cast<void>(new std::shared_ptr<detail::service_core>(std::move(core_)));
    return;
  }
  (void)core_->leave_owner(monotonic::time_point::max());
  core_.reset();
}

service_figures service::figures() const {
  if (!core_ || core_->generation() != detail::fork_generation()) return {};
  return core_->figures();
}

// ---- calls ----

namespace detail {

raw_call start_call(orc::participant& by, std::string_view service, const hashed_type& request,
                    const hashed_type& reply, std::chrono::nanoseconds deadline, std::size_t size,
                    const request_writer& write) {
  if (deadline <= std::chrono::nanoseconds(0) || deadline > longest_deadline)
    return failed_call({.code = call_errc::bad_argument, .text = "a deadline is above 0 and at most 24 hours"});
  const auto component = calls_component::of(by);
  if (!component)
    return failed_call({.code = components::why_none(by) == errc::forked ? call_errc::forked : call_errc::closed});
  call_error why_not;
  const auto channel = component->channel(by, service, why_not);
  if (!channel) return failed_call(std::move(why_not));
  return raw_call(channel->start(request, reply, deadline, size, write));
}

}  // namespace detail

call_future<std::vector<std::byte>> participant::call(std::string_view name, std::span<const std::byte> request,
                                                      std::chrono::nanoseconds deadline) {
  return call_future<std::vector<std::byte>>(detail::start_call(
      *this, name, untyped(), untyped(), deadline, request.size(), [request](std::span<std::byte> to) {
        if (!request.empty()) std::memcpy(to.data(), request.data(), request.size());
        return true;
      }));
}

result participant::wait_for_service(std::string_view name, std::chrono::nanoseconds timeout) {
  const auto component = calls_component::of(*this);
  if (!component) return components::why_none(*this);
  call_error why_not;
  const auto channel = component->channel(*this, name, why_not);
  if (!channel) {
    const errc code = why_not.code == call_errc::closed         ? errc::closed
                      : why_not.code == call_errc::bad_argument ? errc::bad_name
                                                                : errc::refused;
    return {code, why_not.message()};
  }
  return channel->wait_accepted(untyped(), detail::after(timeout));
}

// ---- directory ----

namespace {

// Whether the topic is a service. `type` and `service` are set if so.
[[nodiscard]] result read_service(directory& in, const topic_state& topic, type_description& type,
                                  service_description& service, bool& is_service) {
  is_service = topic.publication && topic.publication->type && topic.publication->type->name == service_type_name;
  if (!is_service) return {};
  if (result read = in.find_type(*topic.publication->type, type); !read) return read;
  service = {.name = topic.name, .server = topic.publication->participant};
  if (detail::read_service_type(type, service)) return {};
  return {errc::unknown_type, "the description of service " + topic.name + " cannot be read"};
}

}  // namespace

result find_services(directory& in, std::string_view interface, std::vector<service_description>& found) {
  std::vector<topic_state> topics;
  if (result listed = in.topics("**", topics); !listed) return listed;
  std::vector<service_description> services;
  for (const topic_state& topic : topics) {
    type_description type;
    service_description service;
    bool is_service = false;
    result read = read_service(in, topic, type, service, is_service);
    if (read.code() == errc::unknown_type || !is_service) continue;
    if (!read) return read;
    if (interface.empty() || std::ranges::find(service.interfaces, interface) != service.interfaces.end())
      services.push_back(std::move(service));
  }
  found = std::move(services);
  return {};
}

result find_service(directory& in, std::string_view name, service_description& found, type_description& request,
                    type_description& reply) {
  topic_state topic;
  if (result asked = in.describe(name, topic); !asked) return asked;
  type_description type;
  service_description service;
  bool is_service = false;
  if (result read = read_service(in, topic, type, service, is_service); !read) return read;
  if (!is_service) {
    return {errc::unknown_topic,
            topic.publication ? topic.name + " is a topic, not a service" : "no program serves " + topic.name};
  }
  if (!detail::read_schemas(type, request, reply))
    return {errc::unknown_type,
            "the description of service " + topic.name + " does not hold its schemas: they are too large"};
  found = std::move(service);
  return {};
}

}  // namespace orc
