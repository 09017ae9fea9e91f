// FlatBuffers, by their binary schema.
#include <nlohmann/json.hpp>
#include <string>

#include "flatbuffer/flatbuffer_reader.h"
#include "flatbuffer/flatbuffer_schema.h"
#include "flatbuffer/flatbuffer_writer.h"

namespace orc::types::detail {
namespace {

class flatbuffer_codec final : public codec {
 public:
  result make(const type_description& type) { return schema_.make(type); }

  [[nodiscard]] std::string_view encoding() const noexcept override { return "flatbuffer"; }
  bool walk(byte_span sample, path_parts path, walk_state& state) const override {
    return flatbuffer_reader(schema_, sample, state).walk(path);
  }
  result bind(std::vector<field_path::part>& parts, field_info& info) const override;
  bool encode(const nlohmann::json& from, encode_state& state) const override {
    return flatbuffer_writer(schema_, state).write(from);
  }

 private:
  flatbuffer_schema schema_ = {};
};

result flatbuffer_codec::bind(std::vector<field_path::part>& parts, field_info& info) const {
  const flat_object* object = &schema_.root();
  flat_type type;
  bool in_union = false;  // only the sample says which fields follow
  std::string before;
  for (auto& part : parts) {
    if (part.element) {
      if (in_union) continue;
      if (object || (type.kind != flat_kind::vector && type.kind != flat_kind::array)) return not_an_array(before);
      if (type.kind == flat_kind::array && part.index >= type.fixed_size) {
        return index_too_large(before, part.index, type.fixed_size);
      }
      type = type.of_element();
      before += "[" + std::to_string(part.index) + "]";
    } else if (in_union) {
      part.field = unknown_field;
      info = {};
      continue;
    } else {
      if (!object) return not_a_structure(before, part.name);
      const auto found = object->by_name.find(part.name);
      if (found == object->by_name.end()) return no_such_field(before, part.name, schema_.names_of(*object));
      part.field = found->second;
      info = object->fields[part.field].info;
      type = object->fields[part.field].type;
      before += (before.empty() ? "" : ".") + part.name;
    }
    in_union = type.kind == flat_kind::flat_union;
    object = type.kind == flat_kind::object ? &schema_.object(type.index) : nullptr;
  }
  return {};
}

}  // namespace

result make_flatbuffer_codec(const type_description& type, std::unique_ptr<codec>& made) {
  auto codec = std::make_unique<flatbuffer_codec>();
  if (result done = codec->make(type); !done) return done;
  made = std::move(codec);
  return {};
}

}  // namespace orc::types::detail
