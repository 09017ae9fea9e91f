// Raw pixels as a browser draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orc::web {

enum class pixel_encoding : std::uint8_t { rgb8, bgr8, rgba8, bgra8, mono8, mono16 };

// Also takes OpenCV's names 8UC1, 8UC3, 8UC4 (blue first) and 16UC1.
[[nodiscard]] std::optional<pixel_encoding> pixel_encoding_of(std::string_view name) noexcept;

struct raw_pixels {
  std::span<const std::byte> bytes = {};
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t step = 0;  // bytes from row to row; 0: width times the bytes of a pixel
  pixel_encoding encoding = pixel_encoding::rgb8;
};

// Why these cannot be drawn: not enough bytes, or too large. Empty: they can.
[[nodiscard]] std::string problem_of(const raw_pixels& pixels);

// Appends 4 bytes per pixel. Only when there is no problem. mono16 is little-endian; the brightest pixel becomes white.
void append_rgba(const raw_pixels& pixels, std::string& to);

}  // namespace orc::web
