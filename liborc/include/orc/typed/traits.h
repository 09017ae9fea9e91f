// What a typed topic needs to know of a C++ type.
//
// orc/typed.h has the traits of structs with ORC_DESCRIBE. orc/typed/lcm.h, flatbuffers.h and protobuf.h have those of
// generated types. Any other type takes part through a specialisation of its own:
//
//   template <>
//   struct orc::type_traits<nav::route> {
//     static const orc::type_description& describe() {
//       static const orc::type_description type{.name = "nav.route", .message_encoding = "points"};
//       return type;
//     }
//     static std::size_t encoded_size(const nav::route& from) noexcept {
//       return from.points.size() * sizeof(nav::point);
//     }
//     static bool encode(const nav::route& from, std::span<std::byte> to) noexcept {
//       std::ranges::copy(std::as_bytes(std::span(from.points)), to.begin());
//       return true;
//     }
//     static bool decode(std::span<const std::byte> from, nav::route& to) {
//       to.points.resize(from.size() / sizeof(nav::point));
//       if (from.size() != to.points.size() * sizeof(nav::point)) return false;
//       std::ranges::copy(from, std::as_writable_bytes(std::span(to.points)).begin());
//       return true;
//     }
//   };
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "orc/result.h"
#include "orc/type_description.h"

namespace orc {

// Traits of the sample type T. A specialisation has describe() and
// - to send: `static std::span<const std::byte> bytes_of(const U&) noexcept` for each U whose bytes are the sample as
//   they stand, such as T itself. Where values convert to U, delete `bytes_of(const U&&)`: the bytes of a temporary are
//   gone before they are sent. Or `encoded_size` and `encode`, which fills exactly that many bytes and returns false
//   when the value cannot be encoded. These do not throw.
// - to receive: `decode`, which returns false for bytes that are no T, and whose T does not refer to the bytes; or a
//   class `view`, which reads the bytes where they are and is opened again when they move (decoded_value below shows
//   its members).
//   Bytes come from other programs: check them. An exception counts as bytes that are no T; std::bad_alloc as
//   errc::no_memory.
//
// It may have `static orc::result check()`, which register_topic and request_topic call first, and return on failure.
// describe() may throw std::bad_alloc.
template <class T>
struct type_traits;

// A type with traits.
template <class T>
concept typed = requires {
  { type_traits<T>::describe() } -> std::convertible_to<const type_description&>;
};

// The view of a type with decode(): keeps a T of its own.
template <class T>
class decoded_value {
 public:
  // Reads `bytes`. Returns ok, type_mismatch when they are no T, or no_memory.
  [[nodiscard]] errc open(std::span<const std::byte> bytes) {
    return type_traits<T>::decode(bytes, value_) ? errc::ok : errc::type_mismatch;
  }
  // The value, after open() returned ok.
  [[nodiscard]] const T* get() const noexcept { return &value_; }

 private:
  T value_{};
};

namespace detail {

template <class T>
struct view_of {
  using type = decoded_value<T>;
};
template <class T>
requires requires { typename type_traits<T>::view; }
struct view_of<T> {
  using type = typename type_traits<T>::view;
};

// Whether a view reads the bytes where they are, and so is opened again when they move.
template <class View>
inline constexpr bool refers_to_bytes = true;
template <class T>
inline constexpr bool refers_to_bytes<decoded_value<T>> = false;

// Opens a view, and turns what it throws into a code.
template <class View>
[[nodiscard]] errc open_view(View& view, std::span<const std::byte> bytes) noexcept {
  if constexpr (noexcept(view.open(bytes))) {
    return view.open(bytes);
  } else {
    try {
      return view.open(bytes);
    } catch (const std::bad_alloc&) {
      return errc::no_memory;
    } catch (...) {
      return errc::type_mismatch;
    }
  }
}

// Whether the bytes of a Source are a sample of type T.
template <class T, class Source>
concept has_bytes = requires(const Source& source) {
  { type_traits<T>::bytes_of(source) }
  noexcept->std::convertible_to<std::span<const std::byte>>;
};

// Whether a Source can be encoded as a sample of type T.
template <class T, class Source>
concept encodable = requires(const Source& source, std::span<std::byte> to) {
  { type_traits<T>::encoded_size(source) } -> std::convertible_to<std::size_t>;
  { type_traits<T>::encode(source, to) } -> std::same_as<bool>;
};

}  // namespace detail
}  // namespace orc
