#include "tools/web/page_protocol/image_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "orc/schema.h"
#include "tools/web/page_protocol/pixels.h"
#include "tools/web/session/frame.h"

namespace orc::web {

namespace {

constexpr std::uint8_t kind_image = 2;

[[nodiscard]] bool begins_with(std::span<const std::byte> bytes, std::string_view magic) noexcept {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

enum class file_format : std::uint8_t { rgba8 = 0, jpeg = 1, png = 2 };

[[nodiscard]] std::optional<file_format> format_of(std::span<const std::byte> bytes) noexcept {
  if (begins_with(bytes, "\xff\xd8\xff")) return file_format::jpeg;
  if (begins_with(bytes, "\x89PNG\r\n\x1a\n")) return file_format::png;
  return std::nullopt;
}

[[nodiscard]] bool is_within(std::span<const std::byte> part, const std::vector<std::byte>& whole) noexcept {
  return !whole.empty() && part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

[[nodiscard]] std::string head_of(file_format format, std::uint32_t id, std::uint32_t width, std::uint32_t height,
                                  std::int64_t stamp_ns) {
  std::string head;
  append_little(head, kind_image);
  append_little(head, static_cast<std::uint8_t>(format));
  append_little(head, std::uint16_t{0});
  append_little(head, id);
  append_little(head, width);
  append_little(head, height);
  append_little(head, static_cast<std::uint64_t>(stamp_ns));
  return head;
}

}  // namespace

struct image_reader::raw_picture {
  std::span<const std::byte> bytes = {};
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t step = 0;  // bytes from row to row; 0: none between rows
  std::optional<pixel_encoding> encoding = {};
  std::string encoding_name = {};
};

bool image_reader::read(const std::shared_ptr<const fed_sample>& sample, std::uint32_t id, frame& to,
                        std::string& problem) {
  if (!followed_ || sample->type != type_) follow_type(sample->type);
  raw_picture found;
  if (!find_bytes(*sample, found, problem)) return false;
  to.text = false;
  if (const auto format = format_of(found.bytes)) {
    if (found.bytes.size() > max_frame_bytes - 64) {
      problem = "the picture is larger than 32 MiB";
      return false;
    }
    to.head = head_of(*format, id, 0, 0, sample->stamp_ns);
    if (is_within(found.bytes, sample->data)) {
      to.owner = sample;
      to.rest = found.bytes;
    } else {
      to.head.append(reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size());
    }
    return true;
  }
  if (!find_layout(*sample, found, problem)) return false;
  to.head = head_of(file_format::rgba8, id, static_cast<std::uint32_t>(found.width),
                    static_cast<std::uint32_t>(found.height), sample->stamp_ns);
  append_rgba({found.bytes, found.width, found.height, found.step, *found.encoding}, to.head);
  return true;
}

std::optional<types::field_path> image_reader::path(const std::string& name) const {
  types::field_path made;
  if (type_ && type_->decoder && type_->decoder->path(name, made)) return made;
  return std::nullopt;
}

void image_reader::follow_type(const std::shared_ptr<const decoded_type>& type) {
  followed_ = true;
  type_ = type;
  path_problem_.clear();
  pixels_.reset();
  // beside the pixels: "camera.data" has "camera.width"
  const auto dot = layout_.field.rfind('.');
  const std::string beside = dot == std::string::npos ? "" : layout_.field.substr(0, dot + 1);
  width_ = path(beside + "width");
  height_ = path(beside + "height");
  encoding_ = path(beside + "encoding");
  step_ = path(beside + "step");
  if (!type_ || !type_->decoder) {
    if (type_) path_problem_ = type_->problem;
    if (!layout_.field.empty() && !type_) path_problem_ = "the topic is untyped: it has no fields";
    return;
  }
  if (!layout_.field.empty()) {
    types::field_path made;
    if (const result done = type_->decoder->path(layout_.field, made); done) {
      pixels_ = std::move(made);
    } else {
      path_problem_ = done.error().message();
    }
    return;
  }
  find_pixels();
  if (!pixels_) path_problem_ = "no field of type " + type_->name + " looks like a picture: choose one";
}

void image_reader::find_pixels() {
  pixels_ = path("data");
  if (pixels_) return;
  schema read;
  if (!parse_schema(type_->decoder->type(), read) || read.structures.empty()) return;
  for (const schema_field& each : read.structures.front().fields) {
    const auto dimensions = each.dimensions.size();
    if (each.kind != field_kind::uint8 || dimensions < 2 || dimensions > 3) continue;
    pixels_ = path(each.name);
    if (pixels_) return;
  }
}

bool image_reader::find_bytes(const fed_sample& sample, raw_picture& found, std::string& problem) {
  if (sample.size > sample.data.size()) {
    problem = sample.size > max_shown_bytes ? "the sample is larger than 64 MiB"
                                            : "the sample is too large: there is no memory left for it";
    return false;
  }
  if (!path_problem_.empty()) {
    problem = path_problem_;
    return false;
  }
  if (!pixels_) {
    found.bytes = sample.data;
    return true;
  }
  if (const result done = type_->decoder->find(sample.data, *pixels_, value_); !done) {
    problem = done.error().message();
    return false;
  }
  if (const auto* const bytes = std::get_if<std::span<const std::byte>>(&value_.get())) {
    found.bytes = *bytes;
    return true;
  }
  const auto* const numbers = std::get_if<types::number_array>(&value_.get());
  if (numbers == nullptr || (numbers->kind() != field_kind::uint8 && numbers->kind() != field_kind::int8)) {
    problem = "field '" + pixels_->text() + "' is no array of bytes";
    return false;
  }
  found.bytes = numbers->bytes();
  const auto shape = numbers->shape();
  if (shape.size() == 2 || shape.size() == 3) {
    found.height = shape[0];
    found.width = shape[1];
    const std::size_t channels = shape.size() == 3 ? shape[2] : 1;
    if (channels == 1) found.encoding = pixel_encoding::mono8;
    if (channels == 3) found.encoding = pixel_encoding::rgb8;
    if (channels == 4) found.encoding = pixel_encoding::rgba8;
  }
  return true;
}

bool image_reader::find_layout(const fed_sample& sample, raw_picture& found, std::string& problem) {
  const auto number = [&](const std::optional<types::field_path>& at, std::uint64_t& to) {
    if (!at || !type_->decoder->find(sample.data, *at, other_)) return;
    if (const auto value = other_.number(); value && *value >= 0 && *value < 1e9)
      to = static_cast<std::uint64_t>(*value);
  };
  number(width_, found.width);
  number(height_, found.height);
  number(step_, found.step);
  if (encoding_ && type_->decoder->find(sample.data, *encoding_, other_)) {
    if (const auto* const text = std::get_if<std::string_view>(&other_.get())) found.encoding_name = *text;
  }
  if (layout_.width != 0) found.width = layout_.width;
  if (layout_.height != 0) found.height = layout_.height;
  if (!layout_.encoding.empty()) found.encoding_name = layout_.encoding;
  if (!found.encoding_name.empty()) found.encoding = pixel_encoding_of(found.encoding_name);
  if (!found.encoding) {
    problem = found.encoding_name.empty() ? "this is no JPEG and no PNG; for raw pixels give width, height and encoding"
                                          : "encoding '" + found.encoding_name + "' cannot be shown";
    return false;
  }
  problem = problem_of({found.bytes, found.width, found.height, found.step, *found.encoding});
  return problem.empty();
}

}  // namespace orc::web
