#include "participant.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "buffers.h"
#include "calls/offered_service.h"
#include "calls/open_call.h"
#include "errors.h"
#include "gil.h"
#include "options.h"
#include "publisher.h"
#include "session.h"
#include "subscriber.h"

namespace orc::python {

namespace {

// The Python object. The session may outlive it.
struct participant {
  session_ref owner;

  [[nodiscard]] publisher_handle publisher(std::string_view topic) const {
    errc why = errc::not_registered;
    auto end = owner->with_participant([&](orc::participant& broker) {
      auto found = broker.publisher(topic);
      if (!found && broker.send_msg(topic, nullptr, 1).code() == errc::forked) why = errc::forked;
      return found;
    });
    if (!end) fail(why);
    return {owner, std::move(end), owner->full_name(topic)};
  }
};

publisher_handle register_topic(participant& self, const std::string& topic, nb::handle transports,
                                std::size_t expected_size, std::size_t history, bool lock, bool huge_pages,
                                const std::string& multicast, nb::handle type, bool keep_last,
                                const std::string& priority, bool shared) {
  topic_options options{.transports = to_transports(transports),
                        .expected_size = expected_size,
                        .history = history,
                        .memory = {.lock = lock, .huge_pages = huge_pages},
                        .multicast = multicast,
                        .type = to_type(type),
                        .keep_last = keep_last,
                        .priority = to_priority(priority),
                        .shared = shared};
  const result outcome = self.owner->call(
      [topic, options](orc::participant& broker) { return broker.register_topic(topic, options).result(); });
  check(outcome, "the topic stays registered: Participant.publisher('" + topic + "') is its handle");
  return self.publisher(topic);
}

subscriber_handle handle_of(participant& self, const std::string& topic) {
  std::string name = self.owner->full_name(topic);
  const auto same = self.owner->find(name);
  return {self.owner, same, std::move(name), same->codec};
}

subscriber_handle request_topic(participant& self, const std::string& topic, int conflate, std::size_t depth,
                                nb::handle connected_within_ms, nb::handle transports, std::size_t max_messages,
                                int spin_us, const std::string& wait, double cpu_budget, nb::handle max_age_ms,
                                nb::handle type, const std::string& type_check, nb::object codec,
                                const std::string& newest_of) {
  const int within_ms = to_int(connected_within_ms, "connected_within_ms");
  const request_options options{
      .conflate = conflate,
      .depth = depth,
      .connected_within = std::chrono::milliseconds(within_ms < -1 ? within_ms : 0),  // liborc reports the error
      .transports = to_transports(transports),
      .max_messages = max_messages,
      .spin = std::chrono::microseconds(spin_us),
      .wait = to_wait(wait),
      .cpu_budget = cpu_budget,
      .max_age = std::chrono::milliseconds(to_int(max_age_ms, "max_age_ms")),
      .type = to_type(type),
      .type_check = to_type_check(type_check),
      .newest_of = to_newest_of(newest_of)};
  const std::int64_t since = within_ms > 0 ? orc::monotonic_ns() : 0;
  const result outcome = self.owner->call(
      [topic, options](orc::participant& broker) { return broker.request_topic(topic, options).result(); });
  if (!outcome && outcome.code() != errc::no_broker && outcome.code() != errc::type_mismatch) check(outcome);
  subscriber_handle made = handle_of(self, topic);
  if (!codec.is_none()) {
    if (made.codec.is_none()) made.same->codec = codec;
    made.codec = std::move(codec);
  }
  if (conflate == 1 && options.newest_of == orc::newest_of::all) made.same->newest_only();
  const std::string stays = "the request stays: Participant.subscriber('" + topic + "') is its handle";
  check(outcome, stays);
  if (within_ms == 0) return made;
  const std::int64_t spent_ms = within_ms > 0 ? (orc::monotonic_ns() - since) / 1'000'000 : 0;
  const std::int64_t left = within_ms == -1 ? -1 : std::max<std::int64_t>(0, within_ms - spent_ms);
  if (made.wait_connected(static_cast<int>(left))) return made;
  const link_info link = without_gil([&]() noexcept { return made.same->end.link(); });
  fail(errc::timed_out,
       "no link to topic " + topic + " within " + std::to_string(within_ms) + " ms (" + link.reason + "); " + stays);
}

nb::object receive_by_name(participant& self, std::string_view topic, nb::handle timeout_ms, subscription::way how) {
  const int timeout = to_int(timeout_ms, "timeout_ms");
  const subscriber_handle found = handle_of(self, std::string(topic));
  return found.same->receive(timeout, how, found.codec);
}

void send_by_name(participant& self, std::string_view topic, nb::handle data) {
  const readable_bytes bytes(data);
  const errc code = self.owner->with_participant(
      [&](orc::participant& broker) { return broker.send_msg(topic, bytes.data(), bytes.size()).code(); });
  if (code != errc::ok) fail(code);
}

}  // namespace

void bind_participant(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner<participant>)}, {0, nullptr}};
  nb::class_<participant>(
      m, "Participant", nb::type_slots(slots),
      "A program's session with ORC (liborc/include/orc/participant.h). Any thread may make any call.")
      .def(
          "__init__",
          [](participant* self, std::string broker, std::string name, nb::handle broker_timeout_ms,
             std::string advertise, std::string ports, nb::handle transports, std::string multicast,
             std::string name_space, nb::handle housekeeping_priority, std::vector<int> housekeeping_cpus,
             nb::object log) {
            participant_options options{
                .broker = std::move(broker),
                .name = std::move(name),
                .name_space = std::move(name_space),
                .broker_timeout = detail::timeout_of(to_int(broker_timeout_ms, "broker_timeout_ms")),
                .advertise = std::move(advertise),
                .ports = std::move(ports),
                .transports = to_transports(transports),
                .multicast = std::move(multicast),
                .housekeeping_priority = to_int(housekeeping_priority, "housekeeping_priority"),
                .housekeeping_cpus = std::move(housekeeping_cpus)};
            auto sink = std::make_shared<log_sink>(std::move(log));
            new (self) participant{session_ref(std::make_unique<session>(std::move(options), std::move(sink)))};
          },
          nb::arg("broker") = "", nb::kw_only(), nb::arg("name") = "", nb::arg("broker_timeout_ms") = 2000,
          nb::arg("advertise") = "", nb::arg("ports") = "", nb::arg("transports") = nb::tuple(),
          nb::arg("multicast") = "", nb::arg("namespace") = "", nb::arg("housekeeping_priority") = -1,
          nb::arg("housekeeping_cpus") = std::vector<int>(), nb::arg("log"))
      .def("register_topic", &register_topic, nb::arg("topic"), nb::kw_only(), nb::arg("transports") = nb::tuple(),
           nb::arg("expected_size") = 0, nb::arg("history") = 1, nb::arg("lock") = false, nb::arg("huge_pages") = false,
           nb::arg("multicast") = "", nb::arg("type") = nb::none(), nb::arg("keep_last") = true,
           nb::arg("priority") = "normal", nb::arg("shared") = false,
           "Declares that this participant publishes `topic` (ORC paper, III.A). Waits for the broker's answer, at "
           "most broker_timeout_ms.\n\n"
           "transports: of this topic; empty: the participant's.\n"
           "expected_size: size of a typical sample in bytes; shm reserves memory for it at once.\n"
           "history: shm: how many samples recv_next can go back, 1 to 65536.\n"
           "lock, huge_pages: shm: locks its memory, uses huge pages.\n"
           "multicast: network of this topic, as a URL.\n"
           "type: orc.TypeDescription.\n"
           "keep_last: True: a subscription that joins receives the last sample. False, for commands: a sample reaches "
           "only the subscriptions that are connected when it is sent.\n"
           "priority: \"bulk\", \"normal\" or \"control\", over tcp and multicast.\n"
           "shared: True: other participants may publish the topic too, if they also set it; at most 64 in all.\n\n"
           "Raises NoBroker, and the topic stays registered: see `publisher`. Raises NameTaken, BadName, BadArgument, "
           "Refused, NoPermission, NoDescriptors, NoMemory, SystemFailure, Closed and Forked, and the topic is not "
           "registered.")
      .def("request_topic", &request_topic, nb::arg("topic"), nb::kw_only(), nb::arg("conflate") = 1,
           nb::arg("depth") = 0, nb::arg("connected_within_ms") = 0, nb::arg("transports") = nb::tuple(),
           nb::arg("max_messages") = 8, nb::arg("spin_us") = 0, nb::arg("wait") = "block", nb::arg("cpu_budget") = 0.1,
           nb::arg("max_age_ms") = 0, nb::arg("type") = nb::none(), nb::arg("type_check") = "on",
           nb::arg("codec") = nb::none(), nb::arg("newest_of") = "all",
           "codec: orc._typed.codec.Typed; its decode() makes the messages' values.")
      .def("send_msg", &send_by_name, nb::arg("topic"), nb::arg("data"),
           "Same as Publisher.send_msg, by name. Also raises NotRegistered.")
      .def(
          "recv_msg",
          [](participant& self, std::string_view topic, nb::handle timeout_ms) {
            return receive_by_name(self, topic, timeout_ms, &orc::subscriber::recv);
          },
          nb::arg("topic"), nb::arg("timeout_ms"), "Same as Subscriber.recv_msg, by name. Also raises NotRequested.")
      .def(
          "recv_next",
          [](participant& self, std::string_view topic, nb::handle timeout_ms) {
            return receive_by_name(self, topic, timeout_ms, &orc::subscriber::recv_next);
          },
          nb::arg("topic"), nb::arg("timeout_ms"), "Same as Subscriber.recv_next, by name. Also raises NotRequested.")
      .def(
          "loan",
          [](participant& self, std::string_view topic, std::size_t size) {
            return new lent(self.publisher(topic), size);
          },
          nb::arg("topic"), nb::arg("size"), "Same as Publisher.loan, by name. Also raises NotRegistered.")
      .def("publisher", &participant::publisher, nb::arg("topic"),
           "Returns the handle of a registered topic. Raises NotRegistered, Closed, Forked.")
      .def(
          "subscriber", [](participant& self, std::string_view topic) { return handle_of(self, std::string(topic)); },
          nb::arg("topic"), "Returns the handle of a requested topic. Raises NotRequested, Closed, Forked.")
      .def(
          "unregister_topic",
          [](participant& self, const std::string& topic) {
            check(self.owner->call([topic](orc::participant& broker) { return broker.unregister_topic(topic); }));
          },
          nb::arg("topic"),
          "Withdraws a topic. Gives slow readers up to 300 ms for the last sample, then waits for the broker's answer, "
          "at most a second. Raises NotRegistered, Closed, Forked.")
      .def(
          "release_topic", [](participant& self, const std::string& topic) { check(self.owner->release(topic)); },
          nb::arg("topic"),
          "Withdraws a request. Calls that wait on it raise Closed. Raises NotRequested, Closed, Forked.")
      .def(
          "resolve", [](const participant& self, std::string_view name) { return self.owner->full_name(name); },
          nb::arg("name"),
          "Returns the full name of a topic, service or parameter; also of a pattern. Does not check it.\n\n"
          "In the namespace \"robot7\" the full name of \"pose\" is \"robot7/pose\". A slash at the beginning leaves "
          "the namespace out: that of \"/estop\" is \"estop\". orc.Directory has full names only. Raises Closed.")
      .def_prop_ro(
          "_session", [](const participant& self) { return nb::borrow(self.owner.object()); },
          "What other parts of the extension take for the participant.")
      .def(
          "_start_call",
          [](participant& self, std::string_view service, const detail::hashed_type& request,
             const detail::hashed_type& reply, nb::handle payload,
             double ends) { return start_call(*self.owner, service, request, reply, payload, ends); },
          nb::arg("service"), nb::arg("request"), nb::arg("reply"), nb::arg("payload"), nb::arg("ends"),
          "Starts a call that ends at `ends`, a time of time.monotonic().")
      .def(
          "_serve",
          [](participant& self, const std::string& name, const detail::hashed_type& request,
             const detail::hashed_type& reply, nb::object handler, bool takes_call, nb::handle threads,
             nb::handle queue, bool replace_waiting, nb::handle max_clients, nb::handle interfaces,
             nb::handle transports, bool recorded) {
            service_options options =
                to_service_options(threads, queue, replace_waiting, max_clients, interfaces, transports, recorded);
            return offered_service_handle{offered_service::serve(
                *self.owner, name, {request.type, reply.type, std::move(options)}, std::move(handler), takes_call)};
          },
          nb::arg("name"), nb::arg("request"), nb::arg("reply"), nb::arg("handler"), nb::arg("takes_call"),
          nb::arg("threads"), nb::arg("queue"), nb::arg("replace_waiting"), nb::arg("max_clients"),
          nb::arg("interfaces"), nb::arg("transports"), nb::arg("recorded"),
          "handler: takes the request as bytes, and a ServedCall or None. Returns the reply as bytes, a tuple (code, "
          "number, text, exception_type), or None after ServedCall.end_with.")
      .def(
          "_wait_for_service",
          [](participant& self, std::string_view service, double ends) {
            wait_for_service(*self.owner, service, ends);
          },
          nb::arg("service"), nb::arg("ends"), "`ends`: as in _start_call.")
      .def_prop_ro(
          "broker_endpoint",
          [](const participant& self) {
            return self.owner->with_participant([](orc::participant& broker) { return broker.broker_endpoint(); });
          },
          "Endpoint of the broker that answered last, or \"none\"; empty when no broker has answered yet.")
      .def(
          "close", [](participant& self) { self.owner->close(); },
          "Ends the publications and subscriptions and says goodbye to the broker, within a second. Later calls raise "
          "Closed.");
}

}  // namespace orc::python
