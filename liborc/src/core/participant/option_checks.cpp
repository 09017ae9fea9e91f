#include "core/participant/option_checks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "orc/schema.h"
#include "wire/control.h"
#include "wire/multicast_url.h"

namespace orc::detail {

namespace {

constexpr std::size_t max_queue_depth = 65536;
constexpr std::size_t max_held_messages = 60;
constexpr std::size_t max_expected_size = std::size_t{1} << 36;
constexpr std::uint8_t max_transports = 32;  // that a transport_set can name
constexpr std::chrono::nanoseconds max_spin = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds max_max_age = std::chrono::days(49);  // the broker is told ms in 32 bits

// The wire cuts longer texts, which would change the hash.
[[nodiscard]] result check_description(const type_description& type) {
  for (const std::string* const text : {&type.name, &type.schema_encoding, &type.message_encoding}) {
    if (text->size() > wire::max_text)
      return {errc::bad_argument, "a name or an encoding of a type has at most " + std::to_string(wire::max_text) +
                                      " bytes, not " + std::to_string(text->size())};
    if (text->find('\0') != std::string::npos)
      return {errc::bad_argument, "a name or an encoding of a type has a NUL inside"};
  }
  if (type.schema.size() > max_schema_bytes)
    return {errc::bad_argument, "the schema has " + std::to_string(type.schema.size()) + " bytes; " +
                                    std::to_string(max_schema_bytes) + " are allowed"};
  return check_schema(type);
}

[[nodiscard]] result only_for(transport t, const char* option) {
  const std::string name(to_string(t));
  return {errc::bad_argument, std::string(option) + " has a meaning over " + name +
                                  " only, which transports leaves out: add " + name + " to them, or leave " + option +
                                  " out"};
}

// Rejects an option whose only transport is missing from the transports that the same call names.
[[nodiscard]] result consistent(const topic_options& options) {
  const topic_options none;
  const auto leaves_out = [&](transport t) { return !options.transports.empty() && !options.transports.contains(t); };
  if (leaves_out(transport::shm) && options.history != none.history) return only_for(transport::shm, "history");
  if (leaves_out(transport::shm) && options.memory != none.memory) return only_for(transport::shm, "memory");
  if (leaves_out(transport::multicast) && !options.multicast.empty())
    return only_for(transport::multicast, "multicast");
  if (options.priority > priority::control) return {errc::bad_argument, "priority is bulk, normal or control"};
  if (options.priority != none.priority && leaves_out(transport::tcp) && leaves_out(transport::multicast))
    return {
        errc::bad_argument,
        "priority has a meaning over tcp and multicast only, which transports leaves out: add one of them, or leave "
        "priority out"};
  return {};
}

[[nodiscard]] result consistent(const request_options& options) {
  const request_options none;
  if (options.transports.empty() || options.transports.contains(transport::shm)) return {};
  if (options.max_messages != none.max_messages) return only_for(transport::shm, "max_messages");
  return {};
}

}  // namespace

result negative(const char* option) {
  return {errc::bad_argument, std::string(option) + " is negative: it is 0 or more, and orc::forever is without limit"};
}

result available(transport_set wanted, const transport_list& there) {
  for (std::uint8_t number = 0; number < max_transports; ++number) {
    const auto t = static_cast<transport>(number);
    const auto name = static_cast<wire::transport>(number);
    if (wanted.contains(t) &&
        std::none_of(there.begin(), there.end(), [&](const auto& each) { return each->name() == name; }))
      return {errc::bad_argument,
              "this liborc has no transport " + std::to_string(number) + " (" + std::string(to_string(t)) + ")"};
  }
  return {};
}

result check_options(const topic_options& options, const transport_list& there, bool alone) {
  if (auto ok = check_description(options.type); !ok) return ok;
  if (options.history == 0 || options.history > max_queue_depth)
    return {errc::bad_argument, "a history has 1 to " + std::to_string(max_queue_depth) + " samples, not " +
                                    std::to_string(options.history)};
  if (options.expected_size > max_expected_size)
    return {errc::bad_argument, "an expected size has at most " + std::to_string(max_expected_size) + " bytes, not " +
                                    std::to_string(options.expected_size)};
  if (auto ok = available(options.transports, there); !ok) return ok;
  if (auto ok = consistent(options); !ok) return ok;
  if (alone && options.shared)
    return {errc::bad_argument,
            "shared needs a broker: without one (none), a topic on multicast is open to every sender anyway"};
  if (const auto url = wire::multicast_url::parse(options.multicast); !url) return url.error();
  return {};
}

result check_options(const request_options& options, const transport_list& there) {
  if (options.conflate != 0 && options.conflate != 1)
    return {errc::bad_argument, "conflate is 0 or 1, not " + std::to_string(options.conflate)};
  if (options.conflate == 1 && options.depth != 0)
    return {errc::bad_argument, "depth is the length of the queue with conflate = 0: set that, or leave depth out"};
  if (options.depth > max_queue_depth)
    return {errc::bad_argument,
            "a queue has 1 to " + std::to_string(max_queue_depth) + " places, not " + std::to_string(options.depth)};
  if (options.connected_within.count() < 0) return negative("connected_within");
  if (options.max_messages == 0 || options.max_messages > max_held_messages)
    return {errc::bad_argument, "max_messages is 1 to " + std::to_string(max_held_messages) + ", not " +
                                    std::to_string(options.max_messages)};
  if (options.spin.count() < 0 || options.spin > max_spin)
    return {errc::bad_argument, "spin is 0 to " + text_of(max_spin) + ", not " + text_of(options.spin)};
  if (options.wait > wait::predictive) return {errc::bad_argument, "wait is block or predictive"};
  if (!(options.cpu_budget > 0 && options.cpu_budget <= 1))
    return {errc::bad_argument, "cpu_budget is a share of a core: above 0 and at most 1"};
  if (options.max_age.count() < 0 || options.max_age > max_max_age)
    return {errc::bad_argument, "max_age is 0 (any age) to 49 days, not " + text_of(options.max_age)};
  if (auto ok = check_description(options.type); !ok) return ok;
  if (options.type_check > type_check::off) return {errc::bad_argument, "type_check is on or off"};
  if (options.newest_of > newest_of::each) return {errc::bad_argument, "newest_of is all or each"};
  if (options.newest_of == newest_of::each && options.conflate == 0)
    return {errc::bad_argument, "newest_of is for conflate = 1: with 0 every sample of each publisher comes anyway"};
  if (auto ok = available(options.transports, there); !ok) return ok;
  return consistent(options);
}

}  // namespace orc::detail
