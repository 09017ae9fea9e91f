#include "parameters/parameter.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "errors.h"
#include "parameters/declared.h"
#include "parameters/value.h"
#include "session.h"
#include "session_ref.h"

namespace orc::python {

namespace nb = nanobind;

namespace {

// With the GIL.
struct parameter_handle {
  session_ref owner;
  std::shared_ptr<declared_parameter> same;
  nb::object error;
  std::uint64_t seen = 0;
};

void declare(parameter_handle* self, nb::handle by, nb::handle description, nb::object validate, nb::object shape) {
  session_ref owner(by);
  auto wanted = to_description(description);
  auto same = std::make_shared<declared_parameter>(wanted.initial, std::move(validate), std::move(shape));
  wanted.name.insert(0, 1, '/');  // it is a full one
  const result outcome = same->declare(*owner, std::move(wanted));
  nb::object error = nb::none();
  if (outcome.code() == errc::no_broker)
    error = error_of(outcome.code(), outcome.error().message());
  else
    check(outcome);
  owner->parameters().add(same);
  new (self) parameter_handle{std::move(owner), same, std::move(error), same->version()};
}

}  // namespace

void bind_parameter(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner<parameter_handle>)}, {0, nullptr}};
  nb::class_<parameter_handle>(m, "Parameter", nb::type_slots(slots), "A parameter that this program has.")
      .def("__init__", &declare, nb::arg("by"), nb::arg("description"), nb::arg("validate").none(),
           nb::arg("shape").none())
      .def_ro("error", &parameter_handle::error,
              "Why it was not registered at once; a broker that answers later learns of it. None: it was.")
      .def_prop_rw(
          "value", [](const parameter_handle& self) { return self.same->value(); },
          [](nb::handle self, nb::handle value) { self.attr("set")(value); }, nb::for_setter(nb::arg("value").none()),
          "The value in force, also after close() and after fork(). Reading it takes no lock and never waits.\n\n"
          "A list is a copy; an array is read-only, and the same until the value changes. Setting it is set().")
      .def(
          "_set", [](const parameter_handle& self, nb::handle value) { self.same->set(to_value(value)); },
          nb::arg("value"))
      .def(
          "_on_change",
          [](const parameter_handle& self, nb::object callback) { self.same->on_change(std::move(callback)); },
          nb::arg("callback").none())
      .def(
          "changed",
          [](parameter_handle& self) {
            const std::uint64_t version = self.same->version();
            return std::exchange(self.seen, version) != version;
          },
          "Returns whether the value changed since the parameter was made or this returned True. Takes no lock.\n\n"
          "For one thread at a time: a loop looks here, and copies a list only when it has changed.")
      .def(
          "close",
          [](const parameter_handle& self) {
            if (self.same->close()) self.owner->parameters().remove(self.same);
          },
          "Withdraws the parameter: its topic ends. Waits for a callback that runs, and for a set that is being "
          "checked.\n\nA callback may make this call, a check must not.");
  m.def(
      "describe_parameter", [](nb::handle description) { return describe(to_description(description)); },
      nb::arg("description"), "Returns what values are allowed, for people.");
  m.def(
      "check_parameter",
      [](nb::handle description, nb::handle value) {
        check(check_value(to_description(description), to_value(value)));
      },
      nb::arg("description"), nb::arg("value"), "Raises BadArgument.");
  m.def(
      "parameter_json", [](nb::handle value) { return to_json(to_value(value)); }, nb::arg("value"));
}

}  // namespace orc::python
