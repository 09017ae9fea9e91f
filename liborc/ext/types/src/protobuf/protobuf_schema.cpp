#include "protobuf/protobuf_schema.h"

#include <google/protobuf/stubs/logging.h>

#include <map>
#include <vector>

namespace orc::types::detail {
namespace {

result bad_schema(std::string_view what) { return {errc::bad_argument, "protobuf schema: " + std::string(what)}; }

// Memory of all empty messages of the schema together: a hostile one could have many large ones.
constexpr std::size_t most_bytes = std::size_t{64} << 20;
// Message types that the root can hold: the library makes their prototypes recursively.
constexpr std::size_t most_types = 2048;

class first_error final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    if (text_.empty()) text_ = shown(file) + ": `" + shown(element) + "`: " + shown(message);
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_ = {};
};

// The files such that each comes behind those that it imports; fewer than all when that is impossible.
std::vector<const pb::FileDescriptorProto*> in_order(const pb::FileDescriptorSet& files) {
  std::map<std::string_view, std::vector<int>> importers;
  std::vector<int> missing(static_cast<std::size_t>(files.file_size()));
  std::vector<int> ready;
  for (int i = 0; i < files.file_size(); ++i) {
    for (const auto& import : files.file(i).dependency()) importers[import].push_back(i);
    missing[static_cast<std::size_t>(i)] = files.file(i).dependency_size();
    if (files.file(i).dependency_size() == 0) ready.push_back(i);
  }
  std::vector<const pb::FileDescriptorProto*> ordered;
  while (!ready.empty()) {
    const auto& file = files.file(ready.back());
    ready.pop_back();
    ordered.push_back(&file);
    const auto found = importers.find(file.name());
    if (found == importers.end()) continue;
    for (const int each : found->second) {
      if (--missing[static_cast<std::size_t>(each)] == 0) ready.push_back(each);
    }
    importers.erase(found);
  }
  return ordered;
}

}  // namespace

result protobuf_schema::make(const type_description& type) {
  const pb::LogSilencer silence;  // the library would write about a peer's bad bytes to stderr
  pb::FileDescriptorSet files;
  if (!files.ParsePartialFromArray(type.schema.data(), static_cast<int>(type.schema.size())) ||
      !files.IsInitialized()) {
    return bad_schema("this is no FileDescriptorSet");
  }
  editions_.rewrite(files);
  if (result done = build(files); !done) return done;
  root_ = pool_.FindMessageTypeByName(type.name);
  if (!root_) return bad_schema("there is no message `" + shown(type.name) + "`");
  factory_ = std::make_unique<pb::DynamicMessageFactory>(&pool_);
  if (result done = prepare(); !done) return done;
  prototype_ = factory_->GetPrototype(root_);
  return {};
}

result protobuf_schema::build(const pb::FileDescriptorSet& files) {
  const auto ordered = in_order(files);
  for (const auto* file : ordered) {
    first_error error;
    if (!pool_.BuildFileCollectingErrors(*file, &error)) return bad_schema(error.text());
  }
  if (ordered.size() == static_cast<std::size_t>(files.file_size())) return {};
  return bad_schema("a file imports one that is not there, or itself");
}

result protobuf_schema::prepare() {
  std::vector<const pb::Descriptor*> types{root_};
  bytes_.emplace(root_, 0);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const pb::Descriptor& type = *types[i];
    std::vector<const pb::FieldDescriptor*> fields;
    if (type.extension_range_count() > 0) {
      pool_.FindAllExtensions(&type, &fields);
      if (!fields.empty()) extensions_.emplace(&type, fields);
    }
    for (int j = 0; j < type.field_count(); ++j) fields.push_back(type.field(j));
    for (const auto* field : fields) {
      describe(*field);
      if (field->message_type() && bytes_.emplace(field->message_type(), 0).second) {
        types.push_back(field->message_type());
      }
    }
    if (types.size() > most_types) return bad_schema("the message holds more than 2,048 other types");
  }
  std::size_t total = 0;
  for (const auto* type : types) {
    const auto bytes = factory_->GetPrototype(type)->SpaceUsedLong();
    bytes_[type] = bytes;
    total += bytes;
    if (total > most_bytes) return bad_schema("its messages need more than 64 MiB of memory");
  }
  return {};
}

void protobuf_schema::describe(const pb::FieldDescriptor& field) {
  field_info info{field.name(), {}, {}, nullptr};
  if (field.is_extension()) info.name = texts_.emplace_back("[" + field.full_name() + "]");
  if (editions_.is_implicit(field.full_name())) implicit_.insert(&field);
  if (editions_.is_checked(field.full_name())) checked_.insert(&field);
  pb::SourceLocation location;
  if (field.GetSourceLocation(&location)) {
    const std::string& comment =
        location.leading_comments.empty() ? location.trailing_comments : location.leading_comments;
    const std::size_t start = comment.find_first_not_of(" \n");
    if (start != std::string::npos) {
      info.comment = texts_.emplace_back(comment.substr(start, comment.find_last_not_of(" \n") + 1 - start));
    }
  }
  if (const auto* names = enumeration_of(field.is_map() ? *field.message_type()->map_value() : field)) {
    info.names = names_of(*names);
  }
  infos_.emplace(&field, info);
}

const pb::EnumDescriptor* protobuf_schema::enumeration_of(const pb::FieldDescriptor& field) const {
  const std::string open(editions_.enumeration_of(field.full_name()));
  return open.empty() ? field.enum_type() : pool_.FindEnumTypeByName(open);
}

std::span<const pb::FieldDescriptor* const> protobuf_schema::extensions_of(const pb::Descriptor& type) const {
  if (extensions_.empty()) return {};
  const auto found = extensions_.find(&type);
  if (found == extensions_.end()) return {};
  return found->second;
}

const pb::FieldDescriptor* protobuf_schema::find(const pb::Descriptor& type, const std::string& name) const {
  if (!name.starts_with('[')) return type.FindFieldByName(name);
  for (const auto* each : extensions_of(type)) {
    if (info(*each).name == name) return each;
  }
  return nullptr;
}

const pb::FieldDescriptor* protobuf_schema::find(const pb::Descriptor& type, int number) const {
  if (const auto* field = type.FindFieldByNumber(number)) return field;
  return extensions_.contains(&type) ? pool_.FindExtensionByNumber(&type, number) : nullptr;
}

const enumeration* protobuf_schema::names_of(const pb::EnumDescriptor& type) {
  const enumeration*& known = enumerations_[&type];
  if (known) return known;
  std::vector<enumeration::entry> entries;
  for (int i = 0; i < type.value_count(); ++i) entries.push_back({type.value(i)->name(), type.value(i)->number()});
  known = &kept_enumerations_.emplace_back(std::move(entries));
  return known;
}

std::unique_ptr<pb::Message> protobuf_schema::new_root() const {
  return std::unique_ptr<pb::Message>(prototype_->New());
}

name_list names_of(const pb::Descriptor& type) {
  name_list list;
  for (int i = 0; i < type.field_count(); ++i) list.add(type.field(i)->name());
  return list;
}

}  // namespace orc::types::detail
