// What the server of Foxglove's protocols sends as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/web/foxglove/foxglove_channels.h"
#include "tools/web/recorded/playback.h"

namespace orc::web {

struct foxglove_server {
  bool publish = false;                 // clients may publish
  bool parameters = false;              // there are parameters
  bool services = false;                // clients may call services
  bool graph = false;                   // there is a connection graph
  const playback* recording = nullptr;  // null: the running system
  bool playback_control = false;        // clients may control the recording
  std::string_view session = {};        // another one for another run of the server
};

[[nodiscard]] std::string server_info_text(const foxglove_server& server);

enum class status_level : std::uint8_t { info = 0, warning = 1, error = 2 };
[[nodiscard]] std::string status_text(status_level level, std::string_view message);

// Takes channels from the front of `channels` until the text has about `limit` bytes; at least one if there is one.
[[nodiscard]] std::string advertise_text(std::span<const std::shared_ptr<const foxglove_channel>>& channels,
                                         std::size_t limit);
[[nodiscard]] std::string unadvertise_text(const std::vector<std::uint32_t>& ids);

}  // namespace orc::web
