// The value of a call, or why it failed. One idiom for every internal call that can fail with a reason:
//
//   expected<listener> opened = listener::open(endpoint);
//   if (!opened) return opened.error();
//   use(*opened);
//
// A call without a value returns orc::result. This is the part of C++23's std::expected that ORC uses; unlike there, an
// error converts without a wrapper, so the two types must differ.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "orc/result.h"

namespace orc::detail {

template <typename T, typename E = orc::error>
class [[nodiscard]] expected {
  static_assert(!std::is_convertible_v<T, E> && !std::is_convertible_v<E, T>, "cannot tell the value from the error");

 public:
  // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return error;`
  template <std::convertible_to<T> U = T>
  expected(U value) : is_(std::in_place_index<0>, std::move(value)) {}
  expected(E error) : is_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] explicit operator bool() const noexcept { return is_.index() == 0; }

  // Only while there is a value.
  [[nodiscard]] T& operator*() & noexcept { return get<0>(is_); }
  [[nodiscard]] const T& operator*() const& noexcept { return get<0>(is_); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(get<0>(is_)); }
  [[nodiscard]] T* operator->() noexcept { return &get<0>(is_); }
  [[nodiscard]] const T* operator->() const noexcept { return &get<0>(is_); }

  // Only while there is none.
  [[nodiscard]] E& error() & noexcept { return get<1>(is_); }
  [[nodiscard]] const E& error() const& noexcept { return get<1>(is_); }
  [[nodiscard]] E&& error() && noexcept { return std::move(get<1>(is_)); }

 private:
  template <std::size_t I, typename Variant>
  [[nodiscard]] static auto& get(Variant& from) noexcept {
    auto* const found = std::get_if<I>(&from);
    assert(found != nullptr);
    return *found;
  }

  std::variant<T, E> is_;
};

// The error of the system, with a sentence.
[[nodiscard]] inline orc::error unable(std::string why) { return {errc::system_error, std::move(why)}; }

}  // namespace orc::detail
