#include "options.h"

#include <nanobind/stl/string.h>

#include "buffers.h"
#include "errors.h"

namespace orc::python {

namespace {

[[nodiscard]] transport transport_named(const std::string& name) {
  for (const auto each : {transport::inproc, transport::ipc, transport::tcp, transport::shm, transport::multicast})
    if (to_string(each) == name) return each;
  fail(errc::bad_argument, "there is no transport " + name + "; there are inproc, shm, ipc, tcp and multicast");
}

[[nodiscard]] std::string text_of(nb::handle type, const char* name) {
  std::string value;
  if (!nb::try_cast<std::string>(type.attr(name), value)) {
    PyErr_Format(PyExc_TypeError, "TypeDescription.%s is a str", name);
    throw nb::python_error();
  }
  return value;
}

}  // namespace

transport_set to_transports(nb::handle names) {
  nb::object list = nb::borrow(names);
  const bool is_text = PyUnicode_Check(names.ptr());
  if (is_text) list = names.attr("split")(",");
  transport_set set;
  for (const nb::handle each : list) {
    std::string name;
    if (!nb::try_cast<std::string>(each, name)) throw nb::type_error("transports are names: str");
    if (is_text) name = nb::cast<std::string>(each.attr("strip")());
    if (!is_text || !name.empty()) set.insert(transport_named(name));
  }
  return set;
}

priority to_priority(const std::string& name) {
  for (const auto each : {priority::bulk, priority::normal, priority::control})
    if (to_string(each) == name) return each;
  fail(errc::bad_argument, "priority is bulk, normal or control, not " + name);
}

type_description to_type(nb::handle type) {
  if (type.is_none()) return {};
  const readable_bytes schema(type.attr("schema"));
  return {.name = text_of(type, "name"),
          .schema_encoding = text_of(type, "schema_encoding"),
          .message_encoding = text_of(type, "message_encoding"),
          .schema = std::string(static_cast<const char*>(schema.data()), schema.size())};
}

wait to_wait(const std::string& name) {
  if (name == "block") return wait::block;
  if (name == "predictive") return wait::predictive;
  fail(errc::bad_argument, "wait is block or predictive, not " + name);
}

newest_of to_newest_of(const std::string& name) {
  if (name == "all") return newest_of::all;
  if (name == "each") return newest_of::each;
  fail(errc::bad_argument, "newest_of is all or each, not " + name);
}

type_check to_type_check(const std::string& name) {
  if (name == "on") return type_check::on;
  if (name == "off") return type_check::off;
  fail(errc::bad_argument, "type_check is on or off, not " + name);
}

}  // namespace orc::python
