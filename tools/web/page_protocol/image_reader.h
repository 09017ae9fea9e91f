// A sample as a picture that a browser can draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "orc/types/field_path.h"
#include "tools/web/feed/topic_feed.h"
#include "tools/web/session/frame.h"

namespace orc::web {

// What a client says about the layout; empty and 0: it is found in the type or the sample.
struct image_layout {
  std::string field = {};
  std::string encoding = {};  // rgb8, bgr8, rgba8, bgra8, mono8, mono16, jpeg, png
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

// Reads JPEG and PNG as they are, raw pixels as rgba8. Raw pixels are found in
// - types with fields width, height, encoding and data, like sensor_msgs/Image and foxglove.RawImage;
// - fields of bytes with two or three dimensions: rows, columns, and 1, 3 or 4 channels;
// - bytes, when the client gives the layout.
//
// A thread at a time.
class image_reader {
 public:
  explicit image_reader(image_layout layout) : layout_(std::move(layout)) {}

  // Writes the frame of the protocol's kind 2. False: `problem` says why there is no picture.
  [[nodiscard]] bool read(const std::shared_ptr<const fed_sample>& sample, std::uint32_t id, frame& to,
                          std::string& problem);

 private:
  struct raw_picture;

  void follow_type(const std::shared_ptr<const decoded_type>& type);
  void find_pixels();
  [[nodiscard]] bool find_layout(const fed_sample& sample, raw_picture& found, std::string& problem);
  [[nodiscard]] bool find_bytes(const fed_sample& sample, raw_picture& found, std::string& problem);
  [[nodiscard]] std::optional<types::field_path> path(const std::string& name) const;

  const image_layout layout_;
  bool followed_ = false;
  std::shared_ptr<const decoded_type> type_;
  std::string path_problem_;
  std::optional<types::field_path> pixels_;
  std::optional<types::field_path> width_;
  std::optional<types::field_path> height_;
  std::optional<types::field_path> encoding_;
  std::optional<types::field_path> step_;
  types::value value_;
  types::value other_;
};

}  // namespace orc::web
