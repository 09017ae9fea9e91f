#include "subscriber.h"

#include <nanobind/stl/string.h>

#include "buffers.h"
#include "errors.h"
#include "gil.h"
#include "message.h"

namespace orc::python {

namespace {

[[nodiscard]] nb::object object_of(const prediction_info& of) {
  nb::tuple arguments = nb::make_tuple(of.period_ns, of.hits, of.early, of.misses, of.watched_ns);
  const nb::object made = nb::steal(call_python("orc._types", "PredictionInfo", arguments.release().ptr()));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

[[nodiscard]] nb::object link_of(const subscriber_handle& self) {
  const link_info now = without_gil([&]() noexcept { return self.same->end.link(); });
  const nb::object transport = now.connected ? nb::cast(std::string(to_string(now.transport))) : nb::borrow(nb::none());
  nb::tuple arguments = nb::make_tuple(now.connected, transport, now.reason, now.stale, object_of(now.prediction));
  const nb::object made = nb::steal(call_python("orc._types", "LinkInfo", arguments.release().ptr()));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

[[nodiscard]] nb::object object_of(const publisher_info& of) {
  nb::tuple arguments = nb::make_tuple(of.number, of.id, of.name, of.host, of.pid, of.connected);
  const nb::object made = nb::steal(call_python("orc._types", "PublisherInfo", arguments.release().ptr()));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

[[nodiscard]] nb::list publishers_of(const subscriber_handle& self) {
  const auto known = without_gil([&]() noexcept { return self.same->end.publishers(); });
  nb::list made;
  for (const auto& each : known) made.append(object_of(each));
  return made;
}

[[nodiscard]] nb::object publisher_of(const subscriber_handle& self, const received& of) {
  if (of.released()) throw nb::value_error("the message was released");
  return object_of(without_gil([&]() noexcept { return self.same->end.publisher_of(of.sample()); }));
}

[[nodiscard]] int descriptor_of(subscriber_handle& self) {
  errc why = errc::ok;
  const int found = without_gil([&]() noexcept {
    const int made = self.same->end.fd();
    if (made < 0) why = self.same->end.wait_connected(0).code();
    return made;
  });
  if (found < 0) fail(why == errc::closed || why == errc::forked ? why : errc::no_descriptors);
  return found;
}

}  // namespace

bool subscriber_handle::wait_connected(int timeout_ms) {
  patience left(timeout_ms);
  for (;;) {
    const int slice = left.slice();
    result verdict;
    const result outcome = without_gil([&]() noexcept {
      result found = same->end.wait_connected(slice);
      if (found.code() == errc::type_mismatch) verdict = same->end.check_type();
      return found;
    });
    if (outcome) return true;
    // A sender of another type on an open multicast channel ends a slice, but not the wait.
    if (verdict.code() == errc::type_mismatch) check(outcome);
    if (outcome.code() != errc::timed_out && outcome.code() != errc::type_mismatch) fail_to_wait(outcome.code());
    raise_signals();
    if (left.goes_on()) continue;
    if (outcome.code() == errc::type_mismatch) check(outcome);
    return false;
  }
}

void bind_subscriber(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner<subscriber_handle>)}, {0, nullptr}};
  nb::class_<subscriber_handle>(m, "Subscriber", nb::type_slots(slots),
                                "The receiving end of a topic (liborc/include/orc/subscriber.h). Any thread may make "
                                "any call. When several threads wait, each sample goes to one of them. Calls raise "
                                "Closed after release_topic.")
      .def(nb::init<const subscriber_handle&>(), nb::arg("same"))
      .def(
          "_is", [](const subscriber_handle& self, const subscriber_handle& other) { return self.same == other.same; },
          nb::arg("other"), "Whether both are the same subscription.")
      .def_ro("topic", &subscriber_handle::topic, "The topic's name.")
      .def_ro("_codec", &subscriber_handle::codec, "orc._typed.codec.Typed, or None.")
      .def(
          "recv_msg",
          [](subscriber_handle& self, nb::handle timeout_ms) {
            return self.same->receive(to_int(timeout_ms, "timeout_ms"), &orc::subscriber::recv, self.codec);
          },
          nb::arg("timeout_ms"),
          "Returns the newest sample that was not returned yet (conflate=0: the next one), or None. Waits for it at "
          "most timeout_ms; 0 polls, -1 waits for ever.\n\n"
          "Raises Closed, Forked, TooManyMessages (shm), BadArgument (timeout_ms below -1).")
      .def(
          "recv_next",
          [](subscriber_handle& self, nb::handle timeout_ms) {
            return self.same->receive(to_int(timeout_ms, "timeout_ms"), &orc::subscriber::recv_next, self.codec);
          },
          nb::arg("timeout_ms"),
          "Returns the sample after the last one returned, in order. If that one is gone, returns the oldest later "
          "one. Waits and fails as recv_msg does.")
      .def("fileno", &descriptor_of,
           "Returns a descriptor for poll or asyncio that is readable when recv_msg(0) may return a sample. It belongs "
           "to the subscription: do not read, write or close it. Raises NoDescriptors, Closed, Forked.")
      .def_prop_ro(
          "connected",
          [](const subscriber_handle& self) {
            return without_gil([&]() noexcept { return self.same->end.connected(); });
          },
          "True while a link is up.")
      .def(
          "wait_connected",
          [](subscriber_handle& self, nb::handle timeout_ms) {
            return self.wait_connected(to_int(timeout_ms, "timeout_ms"));
          },
          nb::arg("timeout_ms"),
          "Waits until a link is up, at most timeout_ms (-1: for ever). Returns False when none came up. Raises "
          "TypeMismatch (the samples have another type than the one that was requested), Closed, Forked, BadArgument "
          "(timeout_ms below -1).")
      .def_prop_ro("publishers", &publishers_of,
                   "The publishers of a shared topic, as the broker names them: orc.PublisherInfo. Empty for other "
                   "topics.")
      .def("publisher_of", &publisher_of, nb::arg("message"),
           "Returns the publisher of a message of this subscription. The last 64 that are gone are remembered. All "
           "fields are empty for others, and for a message of a topic that is not shared.")
      .def_prop_ro("link", &link_of, "The link to the publication, as it is now: orc.LinkInfo.");
}

}  // namespace orc::python
