// One message of a WebSocket, on its way to a client.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace orc::web {

struct frame {
  bool text = true;                        // false: binary
  std::string head = {};                   // the first bytes
  std::shared_ptr<const void> owner = {};  // keeps `rest` alive
  std::span<const std::byte> rest = {};    // follows, so that large bytes are not copied

  [[nodiscard]] std::size_t size() const noexcept { return head.size() + rest.size(); }
};

inline constexpr std::size_t max_frame_bytes = std::size_t{32} << 20;

// Appends a little-endian number of a binary frame.
template <class Number>
requires std::is_arithmetic_v<Number>
void append_little(std::string& to, Number number) {
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  to.append(bytes, sizeof bytes);
}

}  // namespace orc::web
