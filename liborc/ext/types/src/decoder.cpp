#include "orc/types/decoder.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <utility>

#include "codec.h"
#include "trail.h"

namespace orc::types {
namespace {

using detail::walk_state;

// Keeps the first value of a walk, which is the only one unless the value has parts.
class capture final : public visitor {
 public:
  capture(std::span<const std::byte> sample, value& found) : sample_(sample), found_(found) {}

  [[nodiscard]] bool composite() const noexcept { return composite_; }

  void begin_structure() override { composite_ = true; }
  step field(const field_info&) override { return step::stop; }
  step begin_array(std::size_t) override {
    composite_ = true;
    return step::stop;
  }
  step numbers(const number_array& all) override {
    found_.set(number_array(all.kind(), lasting(all.bytes()), found_.keep_shape(all.shape()), all.swapped()));
    return step::enter;
  }
  void boolean(bool value) override { found_.set(value); }
  void signed_integer(std::int64_t value) override { found_.set(value); }
  void unsigned_integer(std::uint64_t value) override { found_.set(value); }
  void float32(float value) override { found_.set(value); }
  void float64(double value) override { found_.set(value); }
  void text(std::string_view value) override {
    const auto bytes = lasting(std::as_bytes(std::span(value)));
    found_.set(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void bytes(std::span<const std::byte> value) override { found_.set(lasting(value)); }

 private:
  std::span<const std::byte> lasting(std::span<const std::byte> bytes) {
    const std::less_equal<const std::byte*> before;
    const bool in_sample =
        before(sample_.data(), bytes.data()) && before(bytes.data() + bytes.size(), sample_.data() + sample_.size());
    return in_sample ? bytes : found_.keep(bytes);
  }

  std::span<const std::byte> sample_;
  value& found_;
  bool composite_ = false;
};

result make_codec(const type_description& type, std::unique_ptr<detail::codec>& made) {
  const auto is = [&type](std::string_view message, std::string_view schema) {
    return type.message_encoding == message && type.schema_encoding == schema;
  };
  if (is("struct", "struct")) return detail::make_struct_codec(type, made);
  if (is("lcm", "lcm") || is("cdr", "ros2msg")) return detail::make_sequential_codec(type, made);
  if (is("flatbuffer", "flatbuffer")) return detail::make_flatbuffer_codec(type, made);
  if (is("protobuf", "protobuf")) return detail::make_protobuf_codec(type, made);
  if (type.message_encoding == "json") return detail::make_json_codec(type, made);
  if (type.empty()) return {errc::bad_argument, "the topic has no type: its samples are bytes"};
  return {errc::bad_argument, "cannot read samples of message encoding \"" + detail::shown(type.message_encoding) +
                                  "\" with a schema of encoding \"" + detail::shown(type.schema_encoding) +
                                  "\"; known are struct, lcm, flatbuffer, protobuf, cdr with ros2msg, and json"};
}

result bad_path(std::string_view text, std::size_t at, std::string_view what) {
  std::string sentence =
      "`" + detail::shown(text) + "` is no path to a field: at character " + std::to_string(at + 1) + " ";
  sentence += what;
  return {errc::bad_argument, std::move(sentence)};
}

// Reads "arm.q[3]" into its parts. A name is anything but '.', '[' and ']'. An error says where the text is no path.
result read_path(std::string_view text, std::vector<field_path::part>& parts) {
  parts.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    if (parts.size() >= 2 * max_depth) return bad_path(text, at, "it is deeper than a sample can be");
    field_path::part& part = parts.emplace_back();
    // A name in brackets is an extension of Protobuf. It stands where a name can.
    const bool begins = parts.size() == 1 || text[at] == '.';
    const std::size_t name = at + (parts.size() > 1 ? 1 : 0);
    if (begins && name < text.size() && text[name] == '[' && text.find_first_of("0123456789", name) != name + 1) {
      const std::size_t end = text.find(']', name);
      if (end == std::string_view::npos) return bad_path(text, name, "a ']' is missing");
      part.name = text.substr(name, end + 1 - name);
      at = end + 1;
    } else if (text[at] == '[') {
      const char* end = text.data() + text.size();
      const auto [behind, failed] = std::from_chars(text.data() + at + 1, end, part.index);
      if (failed != std::errc() || behind == end || *behind != ']') return bad_path(text, at, "a [number] is expected");
      part.element = true;
      at = static_cast<std::size_t>(behind - text.data()) + 1;
    } else {
      if (parts.size() > 1 && text[at++] != '.') return bad_path(text, at - 1, "a '.' or '[' is expected");
      const std::size_t end = std::min(text.find_first_of(".[]", at), text.size());
      if (end == at) return bad_path(text, at, "a name is expected");
      part.name = text.substr(at, end - at);
      at = end;
    }
  }
  return {};
}

}  // namespace

decoder::decoder(const type_description& type) : type_(type) {}

decoder::~decoder() = default;

result decoder::make(const type_description& type, std::unique_ptr<decoder>& made) {
  if (type.schema.size() > max_schema_bytes) return {errc::bad_argument, "the schema is larger than 1 MiB"};
  std::unique_ptr<decoder> decoder(new types::decoder(type));  // the constructor is private
  if (result done = make_codec(decoder->type_, decoder->codec_); !done) return done;
  made = std::move(decoder);
  return {};
}

result decoder::walk(std::span<const std::byte> sample, visitor& to) const {
  walk_state state(codec_->encoding(), sample.size(), to);
  codec_->walk(sample, {}, state);
  return state.outcome();
}

result decoder::walk(std::span<const std::byte> sample, const field_path& path, visitor& to) const {
  walk_state state(codec_->encoding(), sample.size(), to);
  codec_->walk(sample, path.parts(), state);
  return state.outcome();
}

result decoder::path(std::string_view text, field_path& made) const {
  field_path path;
  if (result read = read_path(text, path.parts_); !read) return read;
  path.text_ = text;
  if (result bound = codec_->bind(path.parts_, path.info_); !bound) return bound;
  made = std::move(path);
  return {};
}

result decoder::find(std::span<const std::byte> sample, const field_path& path, value& found) const {
  found.set(std::monostate());
  capture to(sample, found);
  walk_state state(codec_->encoding(), sample.size(), to);
  codec_->walk(sample, path.parts(), state);
  if (to.composite()) {
    found.set(std::monostate());
    return {errc::bad_argument, "`" + detail::shown(path.text()) + "` is not one value: it has parts"};
  }
  return state.outcome();
}

}  // namespace orc::types
