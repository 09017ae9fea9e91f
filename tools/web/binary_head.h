// Little-endian numbers of binary frames.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

namespace orc::web {

template <class Number>
requires std::is_arithmetic_v<Number>
void append_little(std::string& to, Number number) {
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  to.append(bytes, sizeof bytes);
}

}  // namespace orc::web
