// The name of a C++ type at compile time, from the compiler's text of a function's signature (gcc 12, clang 14 and
// later).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace orc::detail {

template <class T>
constexpr auto signature_of() noexcept {
  return std::string_view(__PRETTY_FUNCTION__);
}

// What stands before and after the type in the signature; a type whose name is known shows it.
inline constexpr std::size_t signature_prefix = signature_of<double>().find("double");
inline constexpr std::size_t signature_suffix =
    signature_of<double>().size() - signature_prefix - std::string_view("double").size();
static_assert(signature_prefix != std::string_view::npos, "orc/typed.h: this compiler's signatures are not known");

// "robot::State"; gcc and clang write unnamed namespaces and template arguments differently.
template <class T>
constexpr std::string_view cpp_name_of() noexcept {
  std::string_view text = signature_of<T>();
  text.remove_prefix(signature_prefix);
  text.remove_suffix(signature_suffix);
  return text;
}

// Whether the type, or a class around it, is in an unnamed namespace: then its name is not unique.
template <class T>
constexpr bool is_anonymous() noexcept {
  for (const std::string_view gcc_or_clang : {"{anonymous}", "(anonymous", "<unnamed>"}) {
    if (cpp_name_of<T>().find(gcc_or_clang) != std::string_view::npos) return true;
  }
  return false;
}

template <class T>
constexpr std::size_t dotted_size() noexcept {
  constexpr std::string_view text = cpp_name_of<T>();
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++size) {
    if (text[i] == ':') ++i;
  }
  return size;
}

template <class T>
constexpr auto dotted_text() noexcept {
  constexpr std::string_view text = cpp_name_of<T>();
  std::array<char, dotted_size<T>()> out{};
  for (std::size_t i = 0, to = 0; i < text.size(); ++i, ++to) {
    out[to] = text[i] == ':' ? '.' : text[i];
    if (text[i] == ':') ++i;
  }
  return out;
}

template <class T>
inline constexpr auto dotted_name = dotted_text<T>();

}  // namespace orc::detail

namespace orc {

// Returns the type's name with its namespaces and classes, joined by dots: "robot.State" for robot::State. Types in
// unnamed namespaces do not compile.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
  static_assert(!detail::is_anonymous<T>(),
                "orc/typed.h: a type in an unnamed namespace has no name that other programs could know. Move it to a "
                "named namespace");
  return {detail::dotted_name<T>.data(), detail::dotted_name<T>.size()};
}

}  // namespace orc
