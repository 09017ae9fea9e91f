// Parameters: values of a program that other programs see and set while it runs.
//
//   auto gain = participant.parameter<double>("pid/gain", 1.0, {.min = 0, .max = 10});
//   while (running) torque = *gain * error;
//
//   orc param set pid/gain 2.5
//
// liborc/doc/guide/parameters.md is the guide.
//
// parameter<T>(name, initial, options) declares a parameter. `name` is a topic name; one program at a time has it. Its
// value begins with `initial` each time that the program starts. Waits for the broker as register_topic does. The
// parameter that it returns has the result. Where the result is not ok, get() returns `initial` all the same:
// - no_broker: a broker that answers later learns of it.
// - name_taken: also when this participant has the parameter already.
// - bad_name: also a name that is ORC's own (is_reserved).
// - bad_argument: an option is out of range, `initial` or a choice is refused by the other options, or the participant
//   uses no broker ("none").
// - everything that register_topic and participant::serve return.
//
// The topic `name` carries the value as JSON, {"value": 2.5}, and keeps the last one. So a parameter can be plotted and
// recorded like any topic. One service per participant sets the values of all of its parameters.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "orc/parameters/parameter.h"
#include "orc/parameters/parameter_description.h"
#include "orc/parameters/parameter_options.h"
#include "orc/parameters/parameter_value.h"
#include "orc/parameters/remote_parameters.h"
#include "orc/participant.h"

namespace orc {

namespace detail {

// The limits that T has by itself stand for those that the options leave out.
template <class T>
[[nodiscard]] parameter_description description_of(std::string_view name, const T& initial,
                                                   const parameter_options<T>& options) {
  parameter_description made{.name = std::string(name), .initial = to_value(initial)};
  if (options.min) made.min = to_value(*options.min);
  if (options.max) made.max = to_value(*options.max);
  if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool> && sizeof(T) < sizeof(std::int64_t)) {
    if (!made.min) made.min = to_value(std::numeric_limits<T>::lowest());
    if (!made.max) made.max = to_value(std::numeric_limits<T>::max());
  }
  if constexpr (!std::is_arithmetic_v<T>) made.max_length = options.max_length;
  if constexpr (is_number_list<T> && !std::same_as<T, std::vector<double>>)
    made.min_length = made.max_length = initial.size();
  for (const auto& choice : options.choices) made.choices.push_back(to_value<T>(choice));
  made.description = options.description;
  made.unit = options.unit;
  made.read_only = options.read_only;
  return made;
}

}  // namespace detail

template <class T>
orc::parameter<T> participant::parameter(std::string_view name, std::type_identity_t<T> initial,
                                         const parameter_options<std::type_identity_t<T>>& options) {
  static_assert(parameter_type<T>);
  auto cell = std::make_shared<detail::parameter_cell<T>>(initial);
  std::function<std::string(const parameter_value&)> validate;
  if (options.validate) {
    validate = [check = options.validate](const parameter_value& value) { return check(detail::from_value<T>(value)); };
  }
  result made;
  auto raw = detail::declare_parameter(*this, detail::description_of<T>(name, initial, options), std::move(validate),
                                       cell, made);
  return {std::move(cell), std::move(raw), std::move(made)};
}

}  // namespace orc
