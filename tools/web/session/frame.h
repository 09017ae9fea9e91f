// One message of a WebSocket, on its way to a client.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace orc::web {

struct frame {
  bool text = true;                        // false: binary
  std::string head = {};                   // the first bytes
  std::shared_ptr<const void> owner = {};  // keeps `rest` alive
  std::span<const std::byte> rest = {};    // follows, so that large bytes are not copied

  [[nodiscard]] std::size_t size() const noexcept { return head.size() + rest.size(); }
};

inline constexpr std::size_t max_frame_bytes = std::size_t{32} << 20;

}  // namespace orc::web
