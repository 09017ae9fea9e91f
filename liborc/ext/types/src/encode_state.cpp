#include "encode_state.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace orc::types::detail {
namespace {

using nlohmann::json;

std::string_view name_of_type(const json& found) {
  switch (found.type()) {
    case json::value_t::null: return "null";
    case json::value_t::boolean: return "a bool";
    case json::value_t::string: return "a text";
    case json::value_t::array: return "an array";
    case json::value_t::object: return "an object";
    case json::value_t::number_float: return "a number with a fraction or exponent";
    default: return "an integer";
  }
}

template <class T>
void store(T number, bool swapped, std::byte* to) {
  std::memcpy(to, &number, sizeof(T));
  if (!swapped) return;
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(to[i], to[sizeof(T) - 1 - i]);
}

template <class T>
bool store_integer(const json& from, const enumeration* names, bool swapped, std::byte* to, encode_state& state) {
  using limits = std::numeric_limits<T>;
  std::uint64_t number = 0;
  if (!encode_integer(from, static_cast<std::int64_t>(limits::min()), static_cast<std::uint64_t>(limits::max()), names,
                      number, state)) {
    return false;
  }
  store(static_cast<T>(number), swapped, to);
  return true;
}

bool out_of_range(const std::string& found, std::int64_t least, std::uint64_t most, encode_state& state) {
  return state.fail("is " + found + "; the range is " + std::to_string(least) + " to " + std::to_string(most));
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return bytes % mebibyte == 0 ? std::to_string(bytes / mebibyte) + " MiB" : std::to_string(bytes) + " bytes";
}

bool encode_name(const json& from, const enumeration& names, std::uint64_t& number, encode_state& state) {
  const auto& text = from.get_ref<const std::string&>();
  if (const auto* entry = names.find(text)) {
    number = static_cast<std::uint64_t>(entry->number);
    return true;
  }
  name_list list;
  for (const auto& each : names.entries()) list.add(each.name);
  return state.fail("is \"" + shown(text) + "\"; its names are " + list.text());
}

}  // namespace

bool encode_state::fail(std::string_view sentence) {
  std::string text = here.text() + " ";
  text += sentence;
  outcome_ = result(errc::bad_argument, std::move(text));
  return false;
}

bool encode_state::wrong_type(const json& found, std::string_view wanted) {
  std::string text = "is ";
  text += name_of_type(found);
  text += "; it must be ";
  text += wanted;
  return fail(text);
}

bool encode_state::too_large() { return fail("makes the sample larger than " + size_text(max_bytes_)); }

bool encode_state::grow(std::size_t count, std::size_t& at) {
  at = bytes.size();
  if (count > max_bytes_ - bytes.size()) return too_large();
  bytes.resize(at + count);
  return true;
}

bool encode_integer(const json& from, std::int64_t least, std::uint64_t most, const enumeration* names,
                    std::uint64_t& number, encode_state& state) {
  number = 0;
  if (from.is_null()) return true;
  if (from.is_string() && names) return encode_name(from, *names, number, state);
  if (from.is_number_unsigned()) {
    number = from.get<std::uint64_t>();
    return number <= most || out_of_range(std::to_string(number), least, most, state);
  }
  if (from.is_number_integer()) {
    const auto found = from.get<std::int64_t>();
    number = static_cast<std::uint64_t>(found);
    if (found >= 0) return number <= most || out_of_range(std::to_string(found), least, most, state);
    return found >= least || out_of_range(std::to_string(found), least, most, state);
  }
  if (from.is_number_float()) {  // 1e3 and 7.0 are integers too
    const double found = from.get<double>();
    constexpr double exact = 9007199254740992.0;
    if (found == std::floor(found) && std::abs(found) <= exact) {
      return encode_integer(json(static_cast<std::int64_t>(found)), least, most, names, number, state);
    }
  }
  return state.wrong_type(from, names ? "an integer or a name" : "an integer of 64 bits");
}

bool encode_real(const json& from, double& number, encode_state& state) {
  number = 0;
  if (from.is_null()) return true;
  if (from.is_number()) {
    number = from.get<double>();
    return true;
  }
  if (from.is_string()) {
    const auto& text = from.get_ref<const std::string&>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "nan") return number = std::numeric_limits<double>::quiet_NaN(), true;
    if (text == "inf") return number = infinity, true;
    if (text == "-inf") return number = -infinity, true;
  }
  return state.wrong_type(from, "a number, \"nan\", \"inf\" or \"-inf\"");
}

bool encode_boolean(const json& from, bool& value, encode_state& state) {
  value = false;
  if (from.is_null()) return true;
  if (from.is_boolean()) return value = from.get<bool>(), true;
  if (from.is_number_unsigned() && from.get<std::uint64_t>() <= 1) return value = from.get<std::uint64_t>() == 1, true;
  return state.wrong_type(from, "true or false");
}

bool encode_number(const json& from, field_kind kind, const enumeration* names, bool swapped, std::byte* to,
                   encode_state& state) {
  switch (kind) {
    case field_kind::int8: return store_integer<std::int8_t>(from, names, swapped, to, state);
    case field_kind::uint8: return store_integer<std::uint8_t>(from, names, swapped, to, state);
    case field_kind::int16: return store_integer<std::int16_t>(from, names, swapped, to, state);
    case field_kind::uint16: return store_integer<std::uint16_t>(from, names, swapped, to, state);
    case field_kind::int32: return store_integer<std::int32_t>(from, names, swapped, to, state);
    case field_kind::uint32: return store_integer<std::uint32_t>(from, names, swapped, to, state);
    case field_kind::int64: return store_integer<std::int64_t>(from, names, swapped, to, state);
    case field_kind::uint64: return store_integer<std::uint64_t>(from, names, swapped, to, state);
    default: break;
  }
  if (kind == field_kind::boolean) {
    bool value = false;
    if (!encode_boolean(from, value, state)) return false;
    *to = static_cast<std::byte>(value);
    return true;
  }
  double number = 0;
  if (!encode_real(from, number, state)) return false;
  if (kind == field_kind::float64) {
    store(number, swapped, to);
    return true;
  }
  // The middle between the largest float32 and the next number that it would have. Numbers below it are rounded to the
  // largest, such as 3.4028235e+38, which are its shortest digits.
  constexpr double beyond_float32 = 0x1.ffffffp127;
  if (std::isfinite(number) && std::abs(number) >= beyond_float32) {
    return state.fail("is out of the range of float32");
  }
  store(static_cast<float>(number), swapped, to);
  return true;
}

bool encode_numbers(const json& from, std::span<const std::size_t> shape, field_kind kind, const enumeration* names,
                    bool swapped, std::byte* to, encode_state& state) {
  if (shape.empty()) return encode_number(from, kind, names, swapped, to, state);
  if (from.is_null()) return true;
  if (!expect_array(from, shape[0], state)) return false;
  std::size_t stride = size_of(kind);
  for (const std::size_t each : shape.subspan(1)) stride *= each;
  for (std::size_t i = 0; i < from.size(); ++i) {
    state.here.push(i);
    if (!encode_numbers(from[i], shape.subspan(1), kind, names, swapped, to + i * stride, state)) return false;
    state.here.pop();
  }
  return true;
}

bool expect_array(const json& from, std::size_t size, encode_state& state) {
  if (!from.is_array()) return state.wrong_type(from, "an array");
  if (size == any_size || from.size() == size) return true;
  return state.fail("has " + std::to_string(from.size()) + " elements; it must have " + std::to_string(size));
}

bool expect_object(const json& from, encode_state& state) {
  return from.is_object() || state.wrong_type(from, "an object");
}

bool encode_text(const json& from, std::string_view& text, encode_state& state) {
  text = {};
  if (from.is_null()) return true;
  if (!from.is_string()) return state.wrong_type(from, "a text");
  text = from.get_ref<const std::string&>();
  return true;
}

}  // namespace orc::types::detail
