// What the page sends: one JSON object per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orc::web {

inline constexpr std::size_t max_message_bytes = std::size_t{64} << 10;

enum class client_op : std::uint8_t {
  none,
  ping,
  system,
  open,
  plot,
  resolution,
  image,
  shown,
  publish,
  unpublish,
  parameters,
  set,
  services,
  call,
  cancel,
  close,
  play,
  pause,
  seek,
  rate
};

struct client_message {
  client_op op = client_op::none;
  std::string op_name = {};  // as it was sent
  std::int64_t id = -1;      // -1: none
  std::string topic = {};
  std::string name = {};  // set: of a parameter; call: of a service
  std::string field = {};
  std::string like = {};      // publish: the topic whose type it takes
  std::string value = {};     // publish, set, call: JSON
  std::string encoding = {};  // image
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool on = false;           // system, parameters, services
  bool keep = false;         // publish: for late subscribers
  double number = 0;         // plot, resolution: points per second; rate: the rate; call: seconds
  std::int64_t time_ns = 0;  // seek
};

enum class parse_outcome : std::uint8_t {
  ok,
  bad_field,  // `problem` says what is wrong; op_name and id are set as far as they could be read
  not_json    // not a JSON object
};

// Reads one message. It comes from anywhere: any bytes.
[[nodiscard]] parse_outcome parse(std::string_view text, client_message& found, std::string& problem);

}  // namespace orc::web
