// Values of C++ as JSON, in the conventions of orc/types/json.h but without its code.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "orc/typed/macros.h"

namespace orc::test {

using json = nlohmann::json;

// { "name": value.name, … } of the members that are named. In a list of pairs: each ends with a comma.
#define ORC_PEER_MEMBER(of, name) {#name, orc::test::value((of).name)},
#define ORC_PEER_MEMBERS(of, ...) orc::test::json::object({ORC_DETAIL_EACH(ORC_PEER_MEMBER, of, __VA_ARGS__)})
// The same of functions without arguments.
#define ORC_PEER_CALL(of, name) {#name, orc::test::value((of).name())},
#define ORC_PEER_CALLS(of, ...) orc::test::json::object({ORC_DETAIL_EACH(ORC_PEER_CALL, of, __VA_ARGS__)})

// The double with the same shortest digits: 0.1 for 0.1F.
inline double with_same_digits(float value) noexcept {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  double made = 0;
  std::from_chars(digits, end, made);
  return made;
}

template <std::floating_point T>
json plain(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if constexpr (std::same_as<T, float>) return with_same_digits(value);
  return value;
}

template <std::integral T>
json plain(T value) {
  if constexpr (std::same_as<T, char>) return std::string(value == '\0' ? 0 : 1, value);
  return value;
}

template <class T>
requires std::convertible_to<const T&, std::string_view> json plain(const T& value) {
  return std::string(std::string_view(value));
}

// Arrays, vectors and lists, of anything that plain() takes.
template <class T>
requires(!std::convertible_to<const T&, std::string_view> && requires(const T& all) { std::begin(all); }) json
    plain(const T& all) {
  json made = json::array();
  for (const auto& each : all) made.push_back(plain(each));
  return made;
}

// plain(), also that of the value's own namespace.
template <class T>
json value(const T& from) {
  return plain(from);
}

// The name of an enumeration's value, or its number if it has none.
template <class T>
json name_or_number(std::string_view name, T value) {
  if (!name.empty()) return std::string(name);
  if constexpr (std::is_enum_v<T>) return static_cast<std::underlying_type_t<T>>(value);
  return value;
}

}  // namespace orc::test
