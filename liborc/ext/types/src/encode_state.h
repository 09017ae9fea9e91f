// What each encoder carries: the bytes so far, the place, and the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/result.h"
#include "orc/schema.h"
#include "orc/types/field_info.h"
#include "orc/types/number_array.h"
#include "trail.h"

namespace orc::types::detail {

// Functions of an encoder return false after an error.
class encode_state {
 public:
  // Samples of at most `max_bytes`.
  explicit encode_state(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  std::vector<std::byte> bytes = {};
  trail here = {};

  // Ends the encoding: "`arm.q`: " and the sentence. Returns false.
  bool fail(std::string_view sentence);
  // "is a text here, a number is needed"
  bool wrong_type(const nlohmann::json& found, std::string_view wanted);
  // "makes the sample larger than 256 MiB"
  bool too_large();
  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }
  // Appends zeros; `at` is the place of the first in bytes.
  [[nodiscard]] bool grow(std::size_t count, std::size_t& at);
  // Counts structures and elements that are made: types can have many that need no bytes.
  [[nodiscard]] bool spend(std::size_t values) {
    if (values > values_left_) return fail("has more values than are made: 16,777,216");
    values_left_ -= values;
    return true;
  }
  [[nodiscard]] bool enter() { return here.enter() || fail("structures and arrays are nested deeper than 64"); }
  void leave() noexcept { here.leave(); }

  [[nodiscard]] result outcome() { return std::move(outcome_); }

 private:
  const std::size_t max_bytes_;
  std::size_t values_left_ = 4 * max_values;
  result outcome_ = {};
};

// Reads a number of this kind, or the name of an enumeration, and writes its bytes in the order of this machine, or
// swapped. null is zero.
bool encode_number(const nlohmann::json& from, field_kind kind, const enumeration* names, bool swapped, std::byte* to,
                   encode_state& state);
bool encode_integer(const nlohmann::json& from, std::int64_t least, std::uint64_t most, const enumeration* names,
                    std::uint64_t& number, encode_state& state);
bool encode_real(const nlohmann::json& from, double& number, encode_state& state);
bool encode_boolean(const nlohmann::json& from, bool& value, encode_state& state);

// The same for an array of this shape, outermost dimension first. null is all zeros.
bool encode_numbers(const nlohmann::json& from, std::span<const std::size_t> shape, field_kind kind,
                    const enumeration* names, bool swapped, std::byte* to, encode_state& state);

// Whether this is an array; of `size` elements, unless it is any_size.
inline constexpr std::size_t any_size = static_cast<std::size_t>(-1);
bool expect_array(const nlohmann::json& from, std::size_t size, encode_state& state);
bool expect_object(const nlohmann::json& from, encode_state& state);
// Whether this is a text; null is an empty one.
bool encode_text(const nlohmann::json& from, std::string_view& text, encode_state& state);

}  // namespace orc::types::detail
