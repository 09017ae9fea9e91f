// Which values a parameter may have.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "orc/parameters/parameter_description.h"
#include "parameters/parameter_json.h"

namespace orc {

namespace {

constexpr std::size_t shown_choices = 10;
constexpr std::size_t shown_bytes = 60;

[[nodiscard]] std::string shown(const parameter_value& value) {
  const auto* const number = std::get_if<double>(&value);
  // JSON has no infinity.
  std::string text = number != nullptr && !std::isfinite(*number) ? std::to_string(*number) : to_json(value);
  if (text.size() <= shown_bytes) return text;
  std::size_t end = shown_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

[[nodiscard]] std::string range_text(const parameter_description& parameter) {
  if (parameter.min && parameter.max) return " from " + to_json(*parameter.min) + " to " + to_json(*parameter.max);
  if (parameter.min) return " of at least " + to_json(*parameter.min);
  if (parameter.max) return " of at most " + to_json(*parameter.max);
  return {};
}

[[nodiscard]] std::string choices_text(const parameter_description& parameter) {
  std::string text = "one of ";
  std::size_t count = 0;
  for (const parameter_value& each : parameter.choices) {
    if (count == shown_choices) return text + ", ...";
    text += (count++ == 0 ? "" : ", ") + shown(each);
  }
  return text;
}

// Begins of characters; the text is UTF-8.
[[nodiscard]] std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char each) { return (static_cast<unsigned char>(each) & 0xC0U) != 0x80U; }));
}

template <class T>
[[nodiscard]] bool within(const T& number, const parameter_description& parameter) {
  if constexpr (std::is_same_v<T, double>) {
    if (!std::isfinite(number)) return false;
  }
  const auto* const min = parameter.min ? std::get_if<T>(&*parameter.min) : nullptr;
  const auto* const max = parameter.max ? std::get_if<T>(&*parameter.max) : nullptr;
  return (min == nullptr || number >= *min) && (max == nullptr || number <= *max);
}

[[nodiscard]] bool is_allowed(const parameter_description& parameter, const parameter_value& value) {
  if (value.index() != parameter.initial.index()) return false;
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    if (!within(*whole, parameter)) return false;
  } else if (const auto* const number = std::get_if<double>(&value)) {
    if (!within(*number, parameter)) return false;
  } else if (const auto* const text = std::get_if<std::string>(&value)) {
    if (!detail::is_utf8(*text) || characters(*text) > parameter.max_length) return false;
  } else if (const auto* const list = std::get_if<std::vector<double>>(&value)) {
    if (list->size() < parameter.min_length || list->size() > parameter.max_length) return false;
    if (!std::ranges::all_of(*list, [&](double each) { return within(each, parameter); })) return false;
  }
  return parameter.choices.empty() || std::ranges::find(parameter.choices, value) != parameter.choices.end();
}

}  // namespace

std::string describe(const parameter_description& parameter) {
  std::string text;
  const std::string least = std::to_string(parameter.min_length);
  const std::string most = std::to_string(parameter.max_length);
  if (!parameter.choices.empty()) {
    text = choices_text(parameter);
  } else if (std::holds_alternative<bool>(parameter.initial)) {
    text = "true or false";
  } else if (std::holds_alternative<std::int64_t>(parameter.initial)) {
    text = "a whole number" + range_text(parameter);
  } else if (std::holds_alternative<double>(parameter.initial)) {
    text = "a number" + range_text(parameter);
  } else if (std::holds_alternative<std::string>(parameter.initial)) {
    text = "a text of at most " + most + " characters";
  } else {
    text = least == most ? "a list of " + most + " numbers" : "a list of at most " + most + " numbers";
    if (const std::string range = range_text(parameter); !range.empty()) text += ", each" + range;
  }
  return parameter.unit.empty() ? text : text + " " + parameter.unit;
}

result check_value(const parameter_description& parameter, const parameter_value& value) {
  if (is_allowed(parameter, value)) return {};
  return {errc::bad_argument, parameter.name + " is " + describe(parameter) + ", not " + shown(value)};
}

}  // namespace orc
