// What clients of Foxglove's protocols send: one JSON object per text message, or a binary one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/type_description.h"

namespace orc::web {

inline constexpr std::size_t max_foxglove_subscriptions = 1024;  // of a client
inline constexpr std::size_t max_foxglove_client_channels = 64;  // the same
inline constexpr std::size_t max_foxglove_parameters = 1024;     // that a message names
inline constexpr std::size_t max_foxglove_sets = 64;             // parameters that a message sets
inline constexpr std::size_t max_foxglove_message_bytes = std::size_t{1} << 20;

enum class foxglove_op : std::uint8_t {
  none,  // this server does not know it
  subscribe,
  unsubscribe,
  advertise,
  unadvertise,
  message,
  subscribe_graph,
  unsubscribe_graph,
  playback,
  get_parameters,
  set_parameters,
  subscribe_parameters,
  unsubscribe_parameters,
  call_service
};

struct foxglove_subscription_request {
  std::uint32_t id = 0;
  std::uint32_t channel = 0;
};

// A topic that a client publishes.
struct foxglove_client_channel {
  std::uint32_t id = 0;
  std::string topic = {};
  type_description type = {};  // with the bytes of the schema
};

struct foxglove_playback_request {
  bool play = false;
  float rate = 1;
  std::optional<std::int64_t> seek_ns = {};
  std::string id = {};
};

struct foxglove_parameter_set {
  std::string name = {};
  std::string value = {};  // JSON
};

struct foxglove_call {
  std::uint32_t service = 0;
  std::uint32_t id = 0;
  std::string encoding = {};
};

struct foxglove_message {
  foxglove_op op = foxglove_op::none;
  std::string op_name = {};                                       // for people; at most 64 bytes
  std::vector<foxglove_subscription_request> subscriptions = {};  // subscribe
  std::vector<foxglove_client_channel> channels = {};             // advertise
  std::vector<std::uint32_t> ids = {};                            // unsubscribe, unadvertise
  std::uint32_t channel = 0;                                      // message
  std::span<const std::byte> data = {};                           // message, call_service; of the text that was read
  foxglove_playback_request playback = {};                        // playback
  foxglove_call call = {};                                        // call_service
  std::vector<std::string> names = {};                            // of parameters, all but set_parameters; empty: all
  std::vector<foxglove_parameter_set> sets = {};                  // set_parameters
  std::optional<std::string> request = {};                        // the id of get_parameters and set_parameters
};

enum class foxglove_outcome : std::uint8_t {
  ok,
  refused,  // `problem` says what is wrong with it; the client may go on
  broken    // no message of the protocol; `problem` says why
};

// Read one message. It comes from anywhere: any bytes.
[[nodiscard]] foxglove_outcome read_foxglove_text(std::string_view text, foxglove_message& found, std::string& problem);
[[nodiscard]] foxglove_outcome read_foxglove_binary(std::string_view bytes, foxglove_message& found,
                                                    std::string& problem);

// Whether the bytes of a schema with this encoding travel as base64.
[[nodiscard]] bool is_binary_schema(std::string_view schema_encoding) noexcept;

}  // namespace orc::web
