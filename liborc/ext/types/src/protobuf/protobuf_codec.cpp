// Protobuf, by its FileDescriptorSet.
#include <google/protobuf/stubs/logging.h>

#include <nlohmann/json.hpp>

#include "protobuf/protobuf_reader.h"
#include "protobuf/protobuf_scan.h"
#include "protobuf/protobuf_schema.h"
#include "protobuf/protobuf_writer.h"

namespace orc::types::detail {
namespace {

class protobuf_codec final : public codec {
 public:
  result make(const type_description& type) { return schema_.make(type); }

  [[nodiscard]] std::string_view encoding() const noexcept override { return "protobuf"; }
  bool walk(byte_span sample, path_parts path, walk_state& state) const override {
    if (sample.size() > INT32_MAX) return state.fail(0, "is larger than 2 GiB");
    if (!protobuf_scan(schema_, sample, state).run()) return false;
    const auto root = schema_.new_root();
    const pb::LogSilencer silence;  // the library would write about texts of proto2 that are no UTF-8 to stderr
    if (!root->ParsePartialFromArray(sample.data(), static_cast<int>(sample.size()))) {
      return state.fail(0, "cannot be parsed");
    }
    return protobuf_reader(schema_, state).walk(*root, path);
  }
  result bind(std::vector<field_path::part>& parts, field_info& info) const override;
  bool encode(const nlohmann::json& from, encode_state& state) const override {
    return protobuf_writer(schema_, state).write(from);
  }

 private:
  protobuf_schema schema_ = {};
};

result protobuf_codec::bind(std::vector<field_path::part>& parts, field_info& info) const {
  const pb::Descriptor* type = &schema_.root();
  bool array = false;
  bool map = false;
  const pb::Descriptor* inner = nullptr;  // of the elements
  std::string before;
  for (auto& part : parts) {
    if (map && !part.element) {  // a key
      map = false;
      type = inner;
    } else if (part.element) {
      if (!array) return not_an_array(before);
      array = false;
      type = inner;
      before += "[" + std::to_string(part.index) + "]";
      continue;
    } else {
      if (!type) return not_a_structure(before, part.name);
      const auto* field = schema_.find(*type, part.name);
      if (!field) return no_such_field(before, part.name, names_of(*type));
      part.field = static_cast<std::size_t>(field->number());
      info = schema_.info(*field);
      map = field->is_map();
      array = field->is_repeated() && !map;
      inner = map ? field->message_type()->map_value()->message_type() : field->message_type();
      type = map || array ? nullptr : inner;
    }
    before += (before.empty() ? "" : ".") + part.name;
  }
  return {};
}

}  // namespace

result make_protobuf_codec(const type_description& type, std::unique_ptr<codec>& made) {
  auto codec = std::make_unique<protobuf_codec>();
  if (result done = codec->make(type); !done) return done;
  made = std::move(codec);
  return {};
}

}  // namespace orc::types::detail
