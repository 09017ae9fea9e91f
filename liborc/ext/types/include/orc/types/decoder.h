// Reads samples of a type that is known at run time only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "orc/result.h"
#include "orc/type_description.h"
#include "orc/types/field_path.h"
#include "orc/types/value.h"
#include "orc/types/visitor.h"

namespace orc::types {

namespace detail {
class codec;
}

// Structures and arrays within each other.
inline constexpr std::size_t max_depth = 64;
// Values that a walk visits one by one; an array of numbers counts as one.
inline constexpr std::size_t max_values = std::size_t{1} << 22;
// Bytes of texts and numbers that a walk visits, unless the sample is larger. (In FlatBuffers many fields can share the
// same bytes.)
inline constexpr std::size_t max_visited_bytes = std::size_t{64} << 20;

// The reader of one type: message encodings struct, flatbuffer, protobuf, lcm, cdr (with ros2msg) and json.
//
// Const functions may be called from any threads at once. Samples come from other programs: each number, length and
// offset is checked, and the limits above hold. A sample that violates its format is bad_argument; the message says at
// which field and byte. A visitor may have seen the values before that. Only bad_alloc is thrown.
class decoder {
 public:
  // Makes the decoder of this type. `made` is untouched unless the result is ok.
  // - bad_argument: the encoding is not one of the above, or the schema cannot be read; the message says why.
  static result make(const type_description& type, std::unique_ptr<decoder>& made);
  ~decoder();
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  [[nodiscard]] const type_description& type() const noexcept { return type_; }

  // Visits all names and values of the sample, in the order of the schema (json: of their names), without building a
  // tree.
  // - bad_argument: the sample violates its format, or a limit.
  result walk(std::span<const std::byte> sample, visitor& to) const;

  // The same for the value at `path` alone. Ok without a visit: the sample does not have it.
  // - bad_argument: as above; or an index is beyond the end of an array.
  result walk(std::span<const std::byte> sample, const field_path& path, visitor& to) const;

  // Reads a path such as "arm.q[3]" or "image.pixels[0][2]"; keys of maps and JSON objects are names too, and so is
  // "[package.name]", an extension of Protobuf. An empty text is the whole sample. `made` is untouched unless the
  // result is ok.
  // - bad_argument: the type has no such field; the message lists those that there are.
  result path(std::string_view text, field_path& made) const;

  // Reads the value at `path`, without decoding what is not on the way. Never allocates for numbers, texts and arrays
  // of numbers in encodings struct and flatbuffer. A value that the sample does not have is missing(), and ok.
  // - bad_argument: the sample violates its format on the way; an index is beyond the end of an array; or the value is
  //   a structure or an array of other things than numbers: walk() it.
  result find(std::span<const std::byte> sample, const field_path& path, value& found) const;

  // For from_json().
  [[nodiscard]] const detail::codec& codec() const noexcept { return *codec_; }

 private:
  explicit decoder(const type_description& type);

  type_description type_;
  std::unique_ptr<detail::codec> codec_;
};

}  // namespace orc::types
