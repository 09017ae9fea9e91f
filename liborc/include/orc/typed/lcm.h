// Classes that lcm-gen makes (lcm-gen --cpp) as samples of typed topics. Include it beside orc/typed.h. Needs no header
// of LCM beyond those that the generated class includes.
//
// Bytes and fingerprint are LCM's own, so LCM programs can read a topic over multicast, and write it
// (liborc/doc/guide/multicast-and-lcm.md).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "orc/result.h"
#include "orc/schema.h"
#include "orc/type_description.h"
#include "orc/typed/traits.h"
#include "orc/typed/type_name.h"

// Gives the definition of the lcm-gen class `Type`: the text of its .lcm file, followed by those of the types that it
// uses. Tools then show the fields, and a mismatch names the field. Stands in the global namespace, before the first
// use: ORC_LCM_SCHEMA(exlcm::example_t, "package exlcm; struct example_t { double position[3]; }"). Without it the
// topic's schema is only the fingerprint.
#define ORC_LCM_SCHEMA(Type, text)                       \
  template <>                                            \
  struct orc::lcm_schema<Type> {                         \
    static constexpr std::string_view definition = text; \
  };

namespace orc {

// The definition of an lcm-gen class: see ORC_LCM_SCHEMA. Empty: not known.
template <class T>
struct lcm_schema {
  // The text of the definitions.
  static constexpr std::string_view definition = {};
};

// A class that lcm-gen makes for C++.
template <class T>
concept lcm_class = std::default_initializable<T> && requires(const T& from, T& to, void* out, const void* in) {
  { T::getTypeName() } -> std::convertible_to<const char*>;
  { T::getHash() } -> std::same_as<std::int64_t>;
  { from.getEncodedSize() } -> std::same_as<int>;
  { from.encode(out, 0, 0) } -> std::same_as<int>;
  { to.decode(in, 0, 0) } -> std::same_as<int>;
};

// Traits of an lcm-gen class. As with LCM, the vectors of a value that is sent have the sizes that its count fields
// say. A received sample is decoded into a T; its decoder takes memory for the counts that it reads before it looks at
// how long the sample is, at most 2^31 elements per vector, so a short sample can take many GiB. A type that contains
// itself is decoded to any depth, so a sample can overflow the stack. Over multicast without a broker any host of the
// group can send one. Where publishers are not trusted, receive types with vectors as bytes, and check the counts
// before you decode.
template <lcm_class T>
struct type_traits<T> {
  // Made at the first call. Throws std::bad_alloc.
  static const type_description& describe() {
    static const type_description type{
        .name = std::string(type_name<T>()), .schema_encoding = "lcm", .message_encoding = "lcm", .schema = schema()};
    return type;
  }
  // bad_argument: the definition given with ORC_LCM_SCHEMA cannot be read, or is not that of the class.
  static orc::result check() {
    if (lcm_schema<T>::definition.empty()) return {};
    const type_description& type = describe();
    if (orc::result readable = check_schema(type); !readable) {
      return {readable.code(), "ORC_LCM_SCHEMA of " + type.name + ": " + readable.error().message()};
    }
    const auto given = lcm_fingerprint(type);
    const auto generated = static_cast<std::uint64_t>(T::getHash());
    if (given && *given == generated) return {};
    return {errc::bad_argument, "ORC_LCM_SCHEMA of " + type.name + " has the fingerprint " +
                                    (given ? hex(*given) : std::string("of no type")) +
                                    ", the class that lcm-gen made " + hex(generated) +
                                    ": run lcm-gen again on this definition"};
  }
  // 0 when the value is larger than LCM can send.
  static std::size_t encoded_size(const T& value) {
    const int size = value.getEncodedSize();
    return size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  // False: the value cannot be encoded in as many bytes.
  static bool encode(const T& value, std::span<std::byte> to) {
    const int size = static_cast<int>(to.size());
    return size > 0 && value.encode(to.data(), 0, size) == size;
  }
  // False: the bytes are no T.
  static bool decode(std::span<const std::byte> from, T& value) {
    return from.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
           value.decode(from.data(), 0, static_cast<int>(from.size())) >= 0;
  }

 private:
  static std::string hex(std::uint64_t number) {
    char text[19] = {};
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(number));
    return text;
  }
  static std::string schema() {
    if (!lcm_schema<T>::definition.empty()) return std::string(lcm_schema<T>::definition);
    return "fingerprint " + hex(static_cast<std::uint64_t>(T::getHash())) + "\n";
  }
};

}  // namespace orc
