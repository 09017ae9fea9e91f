// The samples of the camera examples: this header, then `height` rows of `width` pixels of 3 bytes, red first.
#pragma once

#include <cstddef>
#include <cstdint>

struct image_header {
  std::uint16_t width = 0;
  std::uint16_t height = 0;
};

constexpr std::size_t bytes_per_pixel = 3;

constexpr std::size_t image_size(const image_header& image) {
  return sizeof image + std::size_t{image.width} * image.height * bytes_per_pixel;
}
