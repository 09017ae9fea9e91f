// The numbers at the ends of each type's range, for short.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace orc::test {

template <class T>
inline constexpr T lowest = std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T highest = std::numeric_limits<T>::max();

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// Fills an array of any number type.
template <class T, std::size_t Size, class... Values>
void fill(T (&to)[Size], Values... values) {
  static_assert(sizeof...(Values) == Size);
  std::size_t at = 0;
  ((to[at++] = static_cast<T>(values)), ...);
}

// The three awkward float32 and float64 of each list.
inline const std::vector<float> awkward_floats{0.3F, -16777216, std::numeric_limits<float>::min()};
inline const std::vector<double> awkward_doubles{0.1 + 0.2, -9007199254740991, std::numeric_limits<double>::min()};

// Text with characters of one to four bytes, and such as JSON escapes.
inline constexpr const char* awkward_text = "höhe 12 m \"€\" 😀\n";

}  // namespace orc::test
