// What the service of a participant's parameters takes and returns: schemas/PROTOCOL.md, "Parameters".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "orc/parameters/parameter_value.h"
#include "orc/typed.h"

namespace orc::detail {

// The services' names begin with it; a random number follows.
inline constexpr std::string_view parameter_service_prefix = ".parameters/";

// {"name": "pid/gain", "value": 2.5}, or without a value, to read it.
struct parameter_request {
  std::string json;
};
// {"value": 2.5}: in force.
struct parameter_reply {
  std::string json;
};

// Why a request failed: call_error::number.
enum class parameter_refusal : std::int32_t {
  unknown = 1,    // the program does not have the parameter
  value = 2,      // this value is refused
  read_only = 3,  // every value is refused
  malformed = 4   // the request is none
};

[[nodiscard]] const type_description& parameter_request_type();
[[nodiscard]] const type_description& parameter_reply_type();

template <class T>
struct json_traits {
  static std::span<const std::byte> bytes_of(const T& from) noexcept { return std::as_bytes(std::span(from.json)); }
  static bool decode(std::span<const std::byte> from, T& to) {
    if (from.size() > 2 * max_parameter_bytes) return false;
    to.json.assign(reinterpret_cast<const char*>(from.data()), from.size());
    return true;
  }
};

}  // namespace orc::detail

template <>
struct orc::type_traits<orc::detail::parameter_request> : orc::detail::json_traits<orc::detail::parameter_request> {
  static const type_description& describe() { return detail::parameter_request_type(); }
};
template <>
struct orc::type_traits<orc::detail::parameter_reply> : orc::detail::json_traits<orc::detail::parameter_reply> {
  static const type_description& describe() { return detail::parameter_reply_type(); }
};
