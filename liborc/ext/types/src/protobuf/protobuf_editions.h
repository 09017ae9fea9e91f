// Files of Protobuf's editions, for a library that reads proto2 and proto3 only.
#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace orc::types::detail {

namespace pb = google::protobuf;

// Rewrites such files as proto2 files with the same bytes of samples. What proto2 cannot say is kept here, by the full
// names of fields.
class protobuf_editions {
 public:
  void rewrite(pb::FileDescriptorSet& files);

  // Whether an absent field is zero, as in proto3.
  [[nodiscard]] bool is_implicit(const std::string& field) const { return implicit_.contains(field); }
  // Whether the text must be UTF-8, as in proto3.
  [[nodiscard]] bool is_checked(const std::string& field) const { return checked_.contains(field); }
  // The full name of the enumeration whose values a field of type int32 has. An open one: unknown values count too.
  // Empty: none.
  [[nodiscard]] std::string_view enumeration_of(const std::string& field) const {
    const auto found = enumerations_.find(field);
    return found == enumerations_.end() ? std::string_view() : found->second;
  }

 private:
  // The features that a definition has from the one around it, unless it has its own.
  struct features {
    bool implicit = false;
    bool required = false;
    bool closed = false;
    bool expanded = false;
    bool unchecked = false;
    bool delimited = false;
  };
  struct known_enum {
    const pb::EnumDescriptorProto* type = nullptr;
    bool is_open = false;
    bool is_edition = false;
  };
  struct scope {
    std::string name;  // with a dot in front and behind
    features inherited;
    bool is_edition = false;
    bool is_proto3 = false;
  };

  static features merged(features base, const pb::Message& options, int number);
  static scope scope_of(const pb::FileDescriptorProto& file);
  void learn(const pb::EnumDescriptorProto& type, const scope& in);
  void learn(const pb::DescriptorProto& type, const scope& in);
  void rewrite(pb::DescriptorProto& type, const scope& in);
  void rewrite(pb::FieldDescriptorProto& field, const scope& in, bool in_oneof);
  bool open_enumeration(pb::FieldDescriptorProto& field, const std::string& name, bool edition_only);

  std::unordered_map<std::string, known_enum> enums_ = {};  // by name with a dot in front
  std::unordered_set<std::string> map_entries_ = {};        // the same
  std::unordered_set<std::string> implicit_ = {};
  std::unordered_set<std::string> checked_ = {};
  std::unordered_map<std::string, std::string> enumerations_ = {};
};

}  // namespace orc::types::detail
