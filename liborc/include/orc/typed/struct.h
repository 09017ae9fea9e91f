// Structs with ORC_DESCRIBE as samples: their bytes as they stand in memory. Encoding and schema encoding "struct"
// (schemas/PROTOCOL.md, "Types").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "orc/typed/aligned_copy.h"
#include "orc/typed/describe.h"
#include "orc/typed/traits.h"
#include "orc/typed/type_name.h"

namespace orc {

namespace detail {

// Appends a JSON string: UTF-8 as it is, with the escapes \", \\ and \u00xx.
inline void append_json_text(std::string& to, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  to += '"';
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      to += '\\';
      to += each;
    } else if (byte < 0x20) {
      to += "\\u00";
      to += digits[byte >> 4];
      to += digits[byte & 15];
    } else {
      to += each;
    }
  }
  to += '"';
}

inline void append_json_fields(std::string& to, const described_struct& type);

inline void append_json_field(std::string& to, const described_field& field) {
  to += "{\"name\":";
  append_json_text(to, field.name);
  to += ",\"type\":";
  if (field.kind == field_kind::structure) {
    const described_struct nested = field.structure();
    to += "{\"size\":" + std::to_string(nested.size);
    append_json_fields(to, nested);
    to += '}';
  } else {
    append_json_text(to, to_string(field.kind));
  }
  to += ",\"offset\":" + std::to_string(field.offset);
  for (std::size_t i = 0; i < field.dimensions; ++i) {
    to += i == 0 ? ",\"shape\":[" : ",";
    to += std::to_string(field.extents[i]);
  }
  if (field.dimensions > 0) to += ']';
  if (field.values != nullptr) {
    to += ",\"values\":{";
    const described_value* const values = field.values();
    for (std::size_t i = 0; i < field.value_count; ++i) {
      if (i > 0) to += ',';
      append_json_text(to, values[i].name);
      to += ':' + std::to_string(values[i].value);
    }
    to += '}';
  }
  for (const auto& [key, text] : {std::pair(",\"unit\":", field.unit), std::pair(",\"comment\":", field.comment)}) {
    if (text.empty()) continue;
    to += key;
    append_json_text(to, text);
  }
  to += '}';
}

inline void append_json_fields(std::string& to, const described_struct& type) {
  to += ",\"fields\":[";
  for (std::size_t i = 0; i < type.count; ++i) {
    if (i > 0) to += ',';
    append_json_field(to, type.fields[i]);
  }
  to += ']';
}

// The canonical schema: numpy's dtype of the same struct has the same text, and so the same hash.
inline std::string struct_schema(const described_struct& type) {
  std::string text = "{\"byte_order\":";
  text += std::endian::native == std::endian::little ? "\"little\"" : "\"big\"";
  text += ",\"size\":" + std::to_string(type.size);
  append_json_fields(text, type);
  text += '}';
  return text;
}

// Whether each bool in the struct is 0 or 1. To read another one is undefined in C++.
inline bool bools_are_valid(const described_struct& type, const std::byte* at) noexcept {
  for (std::size_t i = 0; i < type.count; ++i) {
    const described_field& field = type.fields[i];
    if (!field.has_bools) continue;
    if (field.kind == field_kind::boolean) {
      for (std::size_t each = 0; each < field.size; ++each) {
        if (at[field.offset + each] > std::byte{1}) return false;
      }
    } else {
      const described_struct nested = field.structure();
      for (std::size_t begin = 0; begin < field.size; begin += nested.size) {
        if (!bools_are_valid(nested, at + field.offset + begin)) return false;
      }
    }
  }
  return true;
}

// Structs up to this size are copied into the message when their bytes are not aligned, larger ones to the heap.
inline constexpr std::size_t most_inline_bytes = 256;

}  // namespace detail

// Reads a struct where its bytes are, when they are aligned for it: always over shm, for alignments up to 32. Otherwise
// copies them, into itself or, above 256 bytes, to the heap.
template <described T>
class struct_view {
 public:
  // Returns ok; type_mismatch when the size is not T's, or a bool in it is neither 0 nor 1; no_memory.
  [[nodiscard]] errc open(std::span<const std::byte> bytes) noexcept {
    in_place_ = nullptr;
    if (bytes.size() != sizeof(T)) return errc::type_mismatch;
    if constexpr (detail::has_bools<T>()) {
      if (!detail::bools_are_valid(detail::struct_of<T>(), bytes.data())) return errc::type_mismatch;
    }
    if (detail::is_aligned(bytes.data(), alignof(T))) {
      in_place_ = bytes.data();
      return errc::ok;
    }
    return copy_.assign(bytes) != nullptr ? errc::ok : errc::no_memory;
  }
  // The struct, after open() returned ok.
  [[nodiscard]] const T* get() const noexcept {
    return std::launder(reinterpret_cast<const T*>(in_place_ != nullptr ? in_place_ : copy_.data()));
  }

 private:
  const std::byte* in_place_ = nullptr;
  detail::aligned_copy<sizeof(T) <= detail::most_inline_bytes ? sizeof(T) : 0, alignof(T)> copy_;
};

// Traits of a struct with ORC_DESCRIBE.
template <described T>
struct type_traits<T> {
  // How a received sample is read.
  using view = struct_view<T>;
  static_assert(std::is_trivially_destructible_v<T>);

  // A publisher may make a T in memory that it sends.
  static constexpr bool in_place = true;

  // "robot.State" and the canonical schema; made at the first call. Throws std::bad_alloc.
  static const type_description& describe() {
    static_assert(type_name<T>().size() <= 255, "orc/typed.h: the type's name is longer than 255 bytes");
    static const type_description type{.name = std::string(type_name<T>()),
                                       .schema_encoding = "struct",
                                       .message_encoding = "struct",
                                       .schema = detail::struct_schema(detail::struct_of<T>())};
    return type;
  }
  // The bytes of the struct itself.
  static std::span<const std::byte> bytes_of(const T& value) noexcept {
    return {reinterpret_cast<const std::byte*>(&value), sizeof value};
  }
  // A T made from another value would be gone before its bytes are sent.
  static std::span<const std::byte> bytes_of(const T&&) = delete;
};

}  // namespace orc
