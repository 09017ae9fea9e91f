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

#include "codec.h"

namespace orc::types::detail {

namespace pb = google::protobuf;

// Immutable after make(): const functions may be called from any threads.
class protobuf_schema {
 public:
  // Reads the files, in any order, and finds the message with the description's name.
  result make(const type_description& type);

  [[nodiscard]] const pb::Descriptor& root() const noexcept { return *root_; }
  // Returns a new message without values.
  [[nodiscard]] std::unique_ptr<pb::Message> new_root() const;
  [[nodiscard]] const field_info& info(const pb::FieldDescriptor& field) const { return infos_.at(&field); }
  // Bytes of memory of a message without values; of the root and all that it can hold.
  [[nodiscard]] std::size_t bytes_of(const pb::Descriptor& type) const { return bytes_.at(&type); }

 private:
  result build(const pb::FileDescriptorSet& files);
  result prepare();
  void describe(const pb::FieldDescriptor& field);
  const enumeration* names_of(const pb::EnumDescriptor& type);

  pb::DescriptorPool pool_ = {};
  std::unique_ptr<pb::DynamicMessageFactory> factory_ = {};
  const pb::Descriptor* root_ = nullptr;
  const pb::Message* prototype_ = nullptr;
  std::unordered_map<const pb::FieldDescriptor*, field_info> infos_ = {};
  std::unordered_map<const pb::Descriptor*, std::size_t> bytes_ = {};
  std::unordered_map<const pb::EnumDescriptor*, const enumeration*> enumerations_ = {};
  std::deque<enumeration> kept_enumerations_ = {};
  std::deque<std::string> comments_ = {};
};

name_list names_of(const pb::Descriptor& type);

}  // namespace orc::types::detail
