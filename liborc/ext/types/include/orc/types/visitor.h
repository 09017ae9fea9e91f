// Receives the names and values of a sample, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "orc/types/field_info.h"
#include "orc/types/number_array.h"

namespace orc::types {

// How a walk goes on.
enum class step : std::uint8_t {
  enter,  // with what the call announces
  skip,   // behind it; its end is not announced
  stop    // not at all: the walk returns ok
};

// Each value is one call: a scalar, a number_array, or a structure or array with calls between its begin and its end.
// The root is a value too, in most encodings a structure. Texts, bytes and numbers live until the call returns. The
// functions do nothing unless they are overridden. They must not throw, except bad_alloc.
class visitor {
 public:
  visitor() = default;
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;
  virtual ~visitor() = default;

  virtual void begin_structure() {}
  // The value of this field of the innermost structure follows. Fields that the sample does not have are left out:
  // FlatBuffers without a default, protobuf with presence.
  virtual step field(const field_info& /*info*/) { return step::enter; }
  virtual void end_structure() {}

  // `count` values follow. Arrays of numbers are announced by numbers() instead.
  virtual step begin_array(std::size_t /*count*/) { return step::enter; }
  virtual void end_array() {}
  // A whole array of numbers, of one or more dimensions; also one of no numbers.
  virtual step numbers(const number_array& /*all*/) { return step::enter; }

  virtual void boolean(bool /*value*/) {}
  virtual void signed_integer(std::int64_t /*value*/) {}     // int8 to int64, also enumerations
  virtual void unsigned_integer(std::uint64_t /*value*/) {}  // uint8 to uint64, also enumerations
  virtual void float32(float /*value*/) {}
  virtual void float64(double /*value*/) {}
  virtual void text(std::string_view /*value*/) {}  // UTF-8, but from a peer: it can hold any bytes
  virtual void bytes(std::span<const std::byte> /*value*/) {}
  virtual void null() {}  // only encoding json
};

}  // namespace orc::types
