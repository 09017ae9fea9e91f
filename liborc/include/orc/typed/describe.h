// Describes plain structs and enumerations in one line each, for typed topics (orc/typed.h).
//
//   namespace robot {
//   enum class mode : std::uint8_t { idle, moving };
//   ORC_DESCRIBE_ENUM(mode, idle, moving)
//
//   struct State {
//     double q[7];
//     std::array<float, 7> dq;
//     mode now;
//   };
//   ORC_DESCRIBE(State, q, (dq, "rad/s"), (now, "", "what the arm does"))
//   }  // namespace robot
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "orc/schema.h"
#include "orc/typed/macros.h"

// Describes the struct `Type`. Stands in the struct's own namespace, after its definition. Each further argument is the
// name of a member, or a name, its unit and a comment in parentheses: (dq, "rad/s", "measured"). Both texts are UTF-8
// and optional.
//
// The struct is trivially copyable and has standard layout. Its members are bool, char, integers of 8 to 64 bits,
// float, double, enumerations, structs that are described before it, and C arrays and std::arrays of these, in any
// number of dimensions. Other types do not compile. Members that are not named are sent, but neither described nor
// checked. Up to 341 members. A type with a comma in its name needs an alias.
#define ORC_DESCRIBE(Type, ...)                                                                        \
  [[maybe_unused]] constexpr auto orc_described_fields(const Type*) noexcept {                         \
    static_assert(std::is_class_v<Type>, "ORC_DESCRIBE(" #Type "): this is not a struct");             \
    static_assert(std::is_trivially_copyable_v<Type>,                                                  \
                  "ORC_DESCRIBE(" #Type                                                                \
                  "): the struct is not trivially copyable, so its bytes cannot be sent. Use "         \
                  "arrays of fixed size instead of std::string and std::vector, or another encoding"); \
    static_assert(std::is_standard_layout_v<Type>,                                                     \
                  "ORC_DESCRIBE(" #Type                                                                \
                  "): the struct has no standard layout, so its members have no known places. "        \
                  "Make all members public and of one class, without virtual functions");              \
    ORC_DETAIL_EACH(ORC_DETAIL_CHECK_FIELD, Type, __VA_ARGS__)                                         \
    constexpr std::array fields{ORC_DETAIL_EACH(ORC_DETAIL_FIELD, Type, __VA_ARGS__)};                 \
    static_assert(!::orc::detail::overlap(fields),                                                     \
                  "ORC_DESCRIBE(" #Type "): two fields share bytes; is one named twice?");             \
    return ::orc::detail::in_order(fields);                                                            \
  }

// Describes an enumeration: the names of its values, for the tools and for checks. Stands in the enumeration's own
// namespace, before structs that have it. An enumeration that is not described is its underlying integer or bool.
// Values above 2^63 - 1 do not compile, nor an enumeration whose underlying type is bool.
#define ORC_DESCRIBE_ENUM(Type, ...)                                                                 \
  [[maybe_unused]] constexpr auto orc_described_values(const Type*) noexcept {                       \
    static_assert(std::is_enum_v<Type>, "ORC_DESCRIBE_ENUM(" #Type "): this is not an enumeration"); \
    static_assert(!::orc::detail::bool_enum<Type>,                                                   \
                  "ORC_DESCRIBE_ENUM(" #Type                                                         \
                  "): the underlying type is bool, whose values have no names. Use std::uint8_t");   \
    return std::array{ORC_DETAIL_EACH(ORC_DETAIL_VALUE, Type, __VA_ARGS__)};                         \
  }

#define ORC_DETAIL_CHECK_FIELD(Type, item) ORC_DETAIL_ITEM(ORC_DETAIL_CHECK_FIELD_1, Type, item)
#define ORC_DETAIL_CHECK_FIELD_1(Type, field, unit, comment)                                                           \
  static_assert(::orc::describable<decltype(Type::field)>,                                                             \
                "ORC_DESCRIBE(" #Type "): the type of " #field                                                         \
                " cannot be described. It is no bool, char, integer, "                                                 \
                "float, double or enumeration, no struct with an ORC_DESCRIBE in its namespace before this line, and " \
                "no array of these. Pointers, std::string, std::vector and long double cannot be sent as bytes");
#define ORC_DETAIL_FIELD(Type, item) ORC_DETAIL_ITEM(ORC_DETAIL_FIELD_1, Type, item)
#define ORC_DETAIL_FIELD_1(Type, field, unit, comment) \
  ::orc::detail::field_of<decltype(Type::field)>(#field, offsetof(Type, field), unit, comment),
#define ORC_DETAIL_VALUE(Type, name) ::orc::described_value{#name, ::orc::detail::number_of(Type::name)},

namespace orc {

// A named value of an enumeration.
struct described_value {
  std::string_view name;   // as the program writes it
  std::int64_t value = 0;  // its number
};

// A struct that ORC_DESCRIBE describes.
template <class T>
concept described = std::is_class_v<T> && requires(const T* type) {
  orc_described_fields(type);
};

// An enumeration that ORC_DESCRIBE_ENUM describes.
template <class T>
concept described_enum = std::is_enum_v<T> && requires(const T* type) {
  orc_described_values(type);
};

namespace detail {

// What an array consists of; T itself when it is none. Dimensions beyond `most_dimensions` are not supported.
template <class T>
struct array_parts {
  using element = T;
  static constexpr std::size_t dimensions = 0;
  static constexpr std::size_t count = 1;
  static constexpr void extents(std::size_t*) noexcept {}
};
template <class T, std::size_t N>
struct array_parts<T[N]> {
  using element = typename array_parts<std::remove_cv_t<T>>::element;
  static constexpr std::size_t dimensions = array_parts<std::remove_cv_t<T>>::dimensions + 1;
  static constexpr std::size_t count = N * array_parts<std::remove_cv_t<T>>::count;
  static constexpr void extents(std::size_t* to) noexcept {
    *to = N;
    array_parts<std::remove_cv_t<T>>::extents(to + 1);
  }
};
template <class T, std::size_t N>
struct array_parts<std::array<T, N>> : array_parts<T[N == 0 ? 1 : N]> {
  static constexpr std::size_t count = N * array_parts<std::remove_cv_t<T>>::count;
};

template <class T>
using element_of = typename array_parts<std::remove_cv_t<T>>::element;

inline constexpr std::size_t most_dimensions = 8;

template <class T>
concept plain_integer = std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, wchar_t> &&
                        !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <class T>
concept bool_enum = std::is_enum_v<T> && std::same_as < std::underlying_type_t<T>,
bool > ;

template <class T>
concept plain_number = std::same_as<T, bool> || plain_integer<T> || std::same_as<T, float> || std::same_as<T, double>;

}  // namespace detail

// A type that a member of a described struct can have.
template <class T>
concept describable = (detail::plain_number<detail::element_of<T>> || std::is_enum_v<detail::element_of<T>> ||
                       described<detail::element_of<T>>)&&detail::array_parts<std::remove_cv_t<T>>::dimensions
                          <= detail::most_dimensions
                      && sizeof(T) == detail::array_parts<std::remove_cv_t<T>>::count * sizeof(detail::element_of<T>);

namespace detail {

struct described_field;

// The fields of a struct.
struct described_struct {
  std::size_t size = 0;
  const described_field* fields = nullptr;
  std::size_t count = 0;
};

// One member of a described struct.
struct described_field {
  std::string_view name;
  std::size_t offset = 0;
  std::size_t size = 0;
  std::string_view unit;
  std::string_view comment;
  field_kind kind = field_kind::uint8;
  std::array<std::size_t, most_dimensions> extents{};
  std::size_t dimensions = 0;
  described_struct (*structure)() noexcept = nullptr;     // kind structure
  const described_value* (*values)() noexcept = nullptr;  // of an enumeration with names, else null
  std::size_t value_count = 0;
  bool has_bools = false;  // it or a nested field is bool
};

template <class T>
inline constexpr auto fields_of = orc_described_fields(static_cast<const T*>(nullptr));
template <class T>
inline constexpr auto values_of = orc_described_values(static_cast<const T*>(nullptr));

template <class T>
constexpr described_struct struct_of() noexcept {
  return {sizeof(T), fields_of<T>.data(), fields_of<T>.size()};
}
template <class T>
constexpr const described_value* first_value_of() noexcept {
  return values_of<T>.data();
}

template <class T>
constexpr field_kind kind_of() noexcept {
  if constexpr (std::is_enum_v<T>) {
    using number = std::underlying_type_t<T>;
    if constexpr (std::same_as<number, char>) {
      return std::signed_integral<char> ? field_kind::int8 : field_kind::uint8;
    } else {
      return kind_of<number>();
    }
  } else if constexpr (std::is_class_v<T>) {
    return field_kind::structure;
  } else if constexpr (std::same_as<T, bool>) {
    return field_kind::boolean;
  } else if constexpr (std::same_as<T, char>) {
    return field_kind::character;
  } else if constexpr (std::floating_point<T>) {
    return sizeof(T) == 4 ? field_kind::float32 : field_kind::float64;
  } else {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1: return is_signed ? field_kind::int8 : field_kind::uint8;
      case 2: return is_signed ? field_kind::int16 : field_kind::uint16;
      case 4: return is_signed ? field_kind::int32 : field_kind::uint32;
      default: return is_signed ? field_kind::int64 : field_kind::uint64;
    }
  }
}

template <class T>
constexpr bool has_bools() noexcept {
  if constexpr (described<T>) {
    for (const described_field& each : fields_of<T>) {
      if (each.has_bools) return true;
    }
    return false;
  } else {
    return kind_of<T>() == field_kind::boolean;
  }
}

template <class Member>
constexpr described_field field_of(std::string_view name, std::size_t offset, std::string_view unit,
                                   std::string_view comment) noexcept {
  using parts = array_parts<std::remove_cv_t<Member>>;
  using element = element_of<Member>;
  described_field field{.name = name, .offset = offset, .size = sizeof(Member), .unit = unit, .comment = comment};
  if constexpr (describable<Member>) {
    field.kind = kind_of<element>();
    field.dimensions = parts::dimensions;
    parts::extents(field.extents.data());
    field.has_bools = has_bools<element>();
    if constexpr (described<element>) field.structure = &struct_of<element>;
    if constexpr (described_enum<element>) {
      field.values = &first_value_of<element>;
      field.value_count = values_of<element>.size();
    }
  }
  return field;
}

template <class Enum>
consteval std::int64_t number_of(Enum value) {
  const auto number = static_cast<std::underlying_type_t<Enum>>(value);
  if constexpr (std::is_unsigned_v<decltype(number)> && sizeof(number) == 8) {
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw "ORC_DESCRIBE_ENUM: a value is larger than 2^63 - 1";
    }
  }
  return static_cast<std::int64_t>(number);
}

// By offset. Insertion: they are in order but for mistakes.
template <std::size_t N>
constexpr std::array<described_field, N> in_order(std::array<described_field, N> fields) noexcept {
  for (std::size_t i = 1; i < N; ++i) {
    for (std::size_t at = i; at > 0 && fields[at].offset < fields[at - 1].offset; --at) {
      const described_field later = fields[at];
      fields[at] = fields[at - 1];
      fields[at - 1] = later;
    }
  }
  return fields;
}

template <std::size_t N>
constexpr bool overlap(const std::array<described_field, N>& fields) noexcept {
  const auto sorted = in_order(fields);
  for (std::size_t i = 1; i < N; ++i) {
    if (sorted[i - 1].offset + sorted[i - 1].size > sorted[i].offset) return true;
  }
  return false;
}

}  // namespace detail
}  // namespace orc
