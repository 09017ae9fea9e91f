#include "tools/web/page_protocol/pixels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tools/web/session/frame.h"

namespace orc::web {

namespace {

constexpr std::array<std::pair<std::string_view, pixel_encoding>, 10> names{{{"rgb8", pixel_encoding::rgb8},
                                                                             {"bgr8", pixel_encoding::bgr8},
                                                                             {"rgba8", pixel_encoding::rgba8},
                                                                             {"bgra8", pixel_encoding::bgra8},
                                                                             {"mono8", pixel_encoding::mono8},
                                                                             {"mono16", pixel_encoding::mono16},
                                                                             {"8UC1", pixel_encoding::mono8},
                                                                             {"8UC3", pixel_encoding::bgr8},
                                                                             {"8UC4", pixel_encoding::bgra8},
                                                                             {"16UC1", pixel_encoding::mono16}}};

[[nodiscard]] std::uint64_t bytes_of(pixel_encoding encoding) noexcept {
  switch (encoding) {
    case pixel_encoding::rgb8:
    case pixel_encoding::bgr8: return 3;
    case pixel_encoding::rgba8:
    case pixel_encoding::bgra8: return 4;
    case pixel_encoding::mono8: return 1;
    case pixel_encoding::mono16: return 2;
  }
  return 4;
}

[[nodiscard]] std::uint64_t step_of(const raw_pixels& pixels) noexcept {
  return pixels.step != 0 ? pixels.step : pixels.width * bytes_of(pixels.encoding);
}

[[nodiscard]] unsigned number16(const unsigned char* at) noexcept { return at[0] | static_cast<unsigned>(at[1]) << 8; }

[[nodiscard]] unsigned brightest_of(const raw_pixels& pixels) noexcept {
  unsigned most = 1;
  for (std::uint64_t y = 0; y < pixels.height; ++y) {
    const auto* const row = reinterpret_cast<const unsigned char*>(pixels.bytes.data()) + y * step_of(pixels);
    for (std::uint64_t x = 0; x < pixels.width; ++x) most = std::max(most, number16(row + 2 * x));
  }
  return most;
}

void convert_row(pixel_encoding encoding, const unsigned char* from, std::uint64_t width, unsigned brightest,
                 unsigned char* to) noexcept {
  for (std::uint64_t x = 0; x < width; ++x, to += 4) {
    to[3] = 255;
    switch (encoding) {
      case pixel_encoding::rgb8: std::memcpy(to, from + 3 * x, 3); break;
      case pixel_encoding::bgr8:
        to[0] = from[3 * x + 2];
        to[1] = from[3 * x + 1];
        to[2] = from[3 * x];
        break;
      case pixel_encoding::rgba8: std::memcpy(to, from + 4 * x, 4); break;
      case pixel_encoding::bgra8:
        to[0] = from[4 * x + 2];
        to[1] = from[4 * x + 1];
        to[2] = from[4 * x];
        to[3] = from[4 * x + 3];
        break;
      case pixel_encoding::mono8: to[0] = to[1] = to[2] = from[x]; break;
      case pixel_encoding::mono16:
        to[0] = to[1] = to[2] = static_cast<unsigned char>(number16(from + 2 * x) * 255 / brightest);
        break;
    }
  }
}

}  // namespace

std::optional<pixel_encoding> pixel_encoding_of(std::string_view name) noexcept {
  for (const auto& [known, encoding] : names)
    if (known == name) return encoding;
  return std::nullopt;
}

std::string problem_of(const raw_pixels& pixels) {
  constexpr std::uint64_t most = max_frame_bytes / 4 - 16;  // pixels
  if (pixels.width == 0 || pixels.height == 0) return "the picture has no width or no height";
  const std::string size = std::to_string(pixels.width) + " x " + std::to_string(pixels.height);
  if (pixels.width > most || pixels.height > most || pixels.width * pixels.height >= most)
    return "a picture of " + size + " pixels is too large: 32 MiB is the limit, 4 bytes a pixel";
  const std::uint64_t row = pixels.width * bytes_of(pixels.encoding);
  const std::uint64_t step = step_of(pixels);
  if (step < row) return "the rows of the picture are shorter than its width";
  if (step > pixels.bytes.size() || (pixels.height - 1) * step + row > pixels.bytes.size())
    return "a picture of " + size + " pixels needs more than these " + std::to_string(pixels.bytes.size()) + " bytes";
  return {};
}

void append_rgba(const raw_pixels& pixels, std::string& to) {
  const std::size_t start = to.size();
  to.resize(start + pixels.width * pixels.height * 4);
  const unsigned brightest = pixels.encoding == pixel_encoding::mono16 ? brightest_of(pixels) : 255;
  auto* out = reinterpret_cast<unsigned char*>(to.data()) + start;
  const auto* const in = reinterpret_cast<const unsigned char*>(pixels.bytes.data());
  for (std::uint64_t y = 0; y < pixels.height; ++y, out += pixels.width * 4)
    convert_row(pixels.encoding, in + y * step_of(pixels), pixels.width, brightest, out);
}

}  // namespace orc::web
