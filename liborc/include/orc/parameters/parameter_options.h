// Options of a parameter.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "orc/parameters/parameter_value.h"

namespace orc {

namespace detail {

template <class T>
inline constexpr bool is_number_list = false;
template <>
inline constexpr bool is_number_list<std::vector<double>> = true;
template <std::size_t Size>
inline constexpr bool is_number_list<std::array<double, Size>> = Size <= max_parameter_length;

// A character type is no whole number here, and an unsigned one of 64 bits does not fit.
template <class T>
inline constexpr bool is_whole_number =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> &&
    (std::signed_integral<T> || sizeof(T) < sizeof(std::int64_t));

}  // namespace detail

// What a parameter can be: bool, a signed integer, an unsigned one below 64 bits, float, double, std::string,
// std::vector<double>, or std::array<double, N> with N up to max_parameter_length.
template <class T>
concept parameter_type = std::same_as<T, bool> || detail::is_whole_number<T> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::string> || detail::is_number_list<T>;

// For participant::parameter. A wrong combination is a bad_argument.
template <class T>
struct parameter_options {
  static_assert(parameter_type<T>, "orc/parameters.h: a parameter cannot have this type: see parameter_type");
  // T for numbers, double for the numbers of a list.
  using number = std::conditional_t<std::is_arithmetic_v<T> && !std::same_as<T, bool>, T, double>;

  // Least number, of each number of a list. Nothing: no limit but that of T. For numbers and lists only.
  std::optional<number> min = {};
  // Greatest number, likewise.
  std::optional<number> max = {};
  // The only values that are allowed; at most 256. Empty: any.
  std::vector<T> choices = {};
  // Longest text in characters, longest list in numbers: 1 to max_parameter_length, which is the default.
  std::size_t max_length = max_parameter_length;
  // For people, such as "N" or "rad/s"; at most 32 bytes.
  std::string unit = {};
  // For people; at most 1,024 bytes.
  std::string description = {};
  // True: only the program itself sets it.
  bool read_only = false;
  // Returns why a value is refused; an empty text accepts it. Runs after the other checks, one value at a time, in the
  // thread that sets the value: the program's own, or one of ORC. An exception refuses the value with its text. It must
  // not set or destroy this parameter, and should return within milliseconds: other sets wait.
  std::function<std::string(const T&)> validate = {};
};

}  // namespace orc
