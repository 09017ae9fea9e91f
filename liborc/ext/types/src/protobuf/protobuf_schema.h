// A Protobuf type from its FileDescriptorSet.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codec.h"
#include "protobuf/protobuf_editions.h"

namespace orc::types::detail {

// Immutable after make(): const functions may be called from any threads.
class protobuf_schema {
 public:
  // Reads the files, in any order, and finds the message with the description's name.
  result make(const type_description& type);

  [[nodiscard]] const pb::Descriptor& root() const noexcept { return *root_; }
  // The extensions of a message, by their numbers. Their names are "[package.name]", as in Protobuf's JSON.
  [[nodiscard]] std::span<const pb::FieldDescriptor* const> extensions_of(const pb::Descriptor& type) const;
  // A field or an extension. Null: there is none.
  [[nodiscard]] const pb::FieldDescriptor* find(const pb::Descriptor& type, const std::string& name) const;
  [[nodiscard]] const pb::FieldDescriptor* find(const pb::Descriptor& type, int number) const;
  // Whether a message may lack the field: else it is zero then.
  [[nodiscard]] bool has_presence(const pb::FieldDescriptor& field) const {
    return field.has_presence() && (implicit_.empty() || !implicit_.contains(&field));
  }
  // Whether the field is a text that must be UTF-8.
  [[nodiscard]] bool is_checked_text(const pb::FieldDescriptor& field) const {
    return field.type() == pb::FieldDescriptor::TYPE_STRING &&
           (field.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO3 || checked_.contains(&field));
  }
  // Returns a new message without values.
  [[nodiscard]] std::unique_ptr<pb::Message> new_root() const;
  [[nodiscard]] const field_info& info(const pb::FieldDescriptor& field) const { return infos_.at(&field); }
  // Bytes of memory of a message without values; of the root and all that it can hold.
  [[nodiscard]] std::size_t bytes_of(const pb::Descriptor& type) const { return bytes_.at(&type); }

 private:
  result build(const pb::FileDescriptorSet& files);
  result prepare();
  void describe(const pb::FieldDescriptor& field);
  const pb::EnumDescriptor* enumeration_of(const pb::FieldDescriptor& field) const;
  const enumeration* names_of(const pb::EnumDescriptor& type);

  protobuf_editions editions_ = {};
  pb::DescriptorPool pool_ = {};
  std::unique_ptr<pb::DynamicMessageFactory> factory_ = {};
  const pb::Descriptor* root_ = nullptr;
  const pb::Message* prototype_ = nullptr;
  std::unordered_map<const pb::FieldDescriptor*, field_info> infos_ = {};
  std::unordered_map<const pb::Descriptor*, std::vector<const pb::FieldDescriptor*>> extensions_ = {};
  std::unordered_set<const pb::FieldDescriptor*> implicit_ = {};
  std::unordered_set<const pb::FieldDescriptor*> checked_ = {};
  std::unordered_map<const pb::Descriptor*, std::size_t> bytes_ = {};
  std::unordered_map<const pb::EnumDescriptor*, const enumeration*> enumerations_ = {};
  std::deque<enumeration> kept_enumerations_ = {};
  std::deque<std::string> texts_ = {};  // comments and names that infos have
};

// The name by which JSON and paths have it.
inline std::string_view name_of(const protobuf_schema& schema, const pb::FieldDescriptor& field) {
  return schema.info(field).name;
}

name_list names_of(const pb::Descriptor& type);

}  // namespace orc::types::detail
