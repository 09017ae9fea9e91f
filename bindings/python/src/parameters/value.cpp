#include "parameters/value.h"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>
#include <vector>

namespace orc::python {

namespace nb = nanobind;

namespace {

[[nodiscard]] std::string to_text(nb::handle text) {
  const nb::bytes encoded = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!encoded.is_valid()) throw nb::python_error();
  const std::string_view all(encoded.c_str(), encoded.size());
  std::string made;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_surrogate = all[i] == '\xed' && (static_cast<unsigned char>(all[i + 1]) & 0x20U) != 0;
    made += is_surrogate ? '\xff' : all[i];
    if (is_surrogate) i += 2;
  }
  return made;
}

[[nodiscard]] std::string text_in(nb::handle of, const char* name) { return to_text(of.attr(name)); }

// 0, which liborc refuses, for one that is none.
[[nodiscard]] std::size_t length_in(nb::handle of, const char* name) {
  std::size_t length = 0;
  return nb::try_cast<std::size_t>(of.attr(name), length) ? length : 0;
}

[[nodiscard]] std::optional<parameter_value> limit_in(nb::handle of, const char* name) {
  const nb::object limit = of.attr(name);
  return limit.is_none() ? std::nullopt : std::optional(to_value(limit));
}

[[nodiscard]] nb::object optional(const std::optional<parameter_value>& value) {
  return value ? to_python(*value) : nb::borrow(nb::none());
}

}  // namespace

parameter_value to_value(nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.is(Py_True);
  if (PyLong_Check(value.ptr())) return nb::cast<std::int64_t>(value);
  if (PyFloat_Check(value.ptr())) return PyFloat_AsDouble(value.ptr());
  if (PyUnicode_Check(value.ptr())) return to_text(value);
  std::vector<double> numbers;
  for (const nb::handle each : nb::cast<nb::list>(value)) numbers.push_back(nb::cast<double>(each));
  return numbers;
}

nb::object to_python(const parameter_value& value) {
  if (const auto* const numbers = std::get_if<std::vector<double>>(&value)) {
    nb::list made;
    for (const double each : *numbers) made.append(each);
    return made;
  }
  if (const auto* const text = std::get_if<std::string>(&value)) return nb::str(text->data(), text->size());
  if (const auto* const truth = std::get_if<bool>(&value)) return nb::bool_(*truth);
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return nb::int_(*whole);
  return nb::float_(std::get<double>(value));
}

parameter_description to_description(nb::handle of) {
  parameter_description made{.name = nb::cast<std::string>(of.attr("name")),
                             .initial = to_value(of.attr("initial")),
                             .min = limit_in(of, "min"),
                             .max = limit_in(of, "max"),
                             .min_length = length_in(of, "min_length"),
                             .max_length = length_in(of, "max_length"),
                             .description = text_in(of, "description"),
                             .unit = text_in(of, "unit"),
                             .read_only = nb::cast<bool>(of.attr("read_only"))};
  for (const nb::handle each : nb::cast<nb::list>(of.attr("choices"))) made.choices.push_back(to_value(each));
  return made;
}

nb::tuple tuple_of(const parameter_description& of) {
  nb::list choices;
  for (const parameter_value& each : of.choices) choices.append(to_python(each));
  const participant_state& owner = of.owner;
  return nb::make_tuple(of.name, nb::make_tuple(owner.id, owner.name, owner.host, owner.pid, owner.library),
                        to_python(of.initial), optional(of.min), optional(of.max), of.min_length, of.max_length,
                        choices, of.description, of.unit, of.read_only);
}

}  // namespace orc::python
