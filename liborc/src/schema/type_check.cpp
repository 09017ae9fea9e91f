#include "schema/type_check.h"

#include "base/text/printable.h"
#include "schema/encoding.h"
#include "schema/flatbuffer/flatbuffer_comparison.h"
#include "schema/lcm/lcm_schema.h"
#include "schema/limits.h"
#include "schema/protobuf/protobuf_comparison.h"
#include "schema/ros2/ros2_schema.h"
#include "schema/ros2/ros2_type.h"
#include "schema/structure/json_reader.h"
#include "schema/structure/struct_schema.h"
#include "schema/structure/structure_comparison.h"

namespace orc::detail {
namespace {

template <typename T>
result outcome(const expected<T>& read) {
  return read ? result() : result(read.error());
}

// What each encoding knows about a type, from a description that has a schema.
expected<schema> read_struct(const type_description& type) { return parse_struct_schema(type.schema); }
expected<lcm_types> read_lcm(const type_description& type) { return parse_lcm_schema(type.schema, type.name); }
expected<schema> read_ros2(const type_description& type) { return parse_ros2_schema(type.schema, type.name); }
expected<flatbuffer_types> read_flatbuffer(const type_description& type) {
  return parse_flatbuffer_schema(type.schema, type.name);
}
expected<protobuf_types> read_protobuf(const type_description& type) {
  return parse_protobuf_schema(type.schema, type.name);
}

difference compare_struct(const schema& published, const schema& expected, const sentences& words) {
  return compare_structures(published, expected, {.offsets = true}, words);
}

difference compare_ros2(const schema& published, const schema& expected, const sentences& words) {
  return compare_structures(published, expected, {.order = true, .structure_names = true}, words);
}

difference compare_lcm(const lcm_types& published, const lcm_types& expected, const sentences& words) {
  if (published.fingerprint == expected.fingerprint) return std::optional<std::string>();
  if (!published.definitions.structures.empty() && !expected.definitions.structures.empty()) {
    auto found = compare_structures(published.definitions, expected.definitions, {.order = true}, words);
    if (found && *found) return found;
  }
  // Sizes that are written in another way (16, 0x10) have another fingerprint too.
  return words.differs("the fingerprint", sentences::hex(published.fingerprint), sentences::hex(expected.fingerprint));
}

// One check of a pair of descriptions.
class type_check {
 public:
  type_check(const type_description& published, const type_description& expected, const sentences& words)
      : published_(published), expected_(expected), words_(words) {}

  result check() const {
    if (published_.empty() || expected_.empty() || published_ == expected_) return {};
    if (const auto limits = check_limits(published_); !limits) {
      return unreadable(published_, words_.there(), limits.error());
    }
    if (const auto limits = check_limits(expected_); !limits) return unreadable(expected_, "here", limits.error());
    if (published_.message_encoding != expected_.message_encoding) {
      return mismatch(words_.differs("message encoding", encoding_text(published_.message_encoding),
                                     encoding_text(expected_.message_encoding)));
    }
    const auto which = message_encoding_of(published_);
    if (which == encoding::other || which != message_encoding_of(expected_)) return check_equal();
    const bool names_count = which != encoding::lcm && !published_.name.empty() && !expected_.name.empty();
    if (names_count && !same_name(which)) return other_name();
    if (which == encoding::json || published_.schema.empty() || expected_.schema.empty()) return {};
    return check_schemas(which);
  }

 private:
  static std::string encoding_text(std::string_view name) { return name.empty() ? "not known" : escaped(name); }

  // ROS 2 writes pkg/msg/Name also as pkg/Name.
  [[nodiscard]] bool same_name(encoding which) const {
    if (which == encoding::ros2) return ros2_full_name(published_.name) == ros2_full_name(expected_.name);
    return published_.name == expected_.name;
  }

  [[nodiscard]] result mismatch(const std::string& why) const {
    return {errc::type_mismatch, "type mismatch between " + sentences::type_name(published_.name) + " " +
                                     words_.there() + " and " + sentences::type_name(expected_.name) + " here: " + why};
  }
  [[nodiscard]] result other_name() const {
    return {errc::type_mismatch,
            words_.differs("type", sentences::type_name(published_.name), sentences::type_name(expected_.name))};
  }
  [[nodiscard]] result check_equal() const {
    if (published_.name != expected_.name) return other_name();
    if (published_.schema_encoding != expected_.schema_encoding) {
      return mismatch(words_.differs("schema encoding", encoding_text(published_.schema_encoding),
                                     encoding_text(expected_.schema_encoding)));
    }
    return mismatch("the schemas differ");
  }

  template <typename T>
  [[nodiscard]] result compare(expected<T> (*read)(const type_description&),
                               difference (*compared)(const T&, const T&, const sentences&)) const {
    const auto there = read(published_);
    if (!there) return unreadable(published_, words_.there(), there.error());
    const auto here = read(expected_);
    if (!here) return unreadable(expected_, "here", here.error());
    const auto found = compared(*there, *here, words_);
    if (!found) return found.error();
    return *found ? mismatch(**found) : result();
  }
  [[nodiscard]] static result unreadable(const type_description& type, const std::string& where,
                                         const orc::error& why) {
    return {why.code(), "schema of " + sentences::type_name(type.name) + " " + where + ": " + why.message()};
  }

  [[nodiscard]] result check_schemas(encoding which) const {
    switch (which) {
      case encoding::structure: return compare(read_struct, compare_struct);
      case encoding::lcm: return compare(read_lcm, compare_lcm);
      case encoding::flatbuffer: return compare(read_flatbuffer, compare_flatbuffers);
      case encoding::protobuf: return compare(read_protobuf, compare_protobuf);
      case encoding::ros2: return compare(read_ros2, compare_ros2);
      default: return check_equal();
    }
  }

  const type_description& published_;
  const type_description& expected_;
  const sentences& words_;
};

}  // namespace

result check_types(const type_description& published, const type_description& expected, const sentences& words) {
  return type_check(published, expected, words).check();
}

result check_limits(const type_description& type) {
  if (type.name.size() > max_schema_name_bytes) return bad_schema("the type's name has more than 255 bytes");
  if (type.schema.size() > max_schema_bytes) return bad_schema("it has more than 1 MiB");
  return {};
}

result check_schema(const type_description& type) {
  if (auto limits = check_limits(type); !limits || type.schema.empty()) return limits;
  switch (schema_encoding_of(type)) {
    case encoding::structure: return outcome(read_struct(type));
    case encoding::lcm: return outcome(read_lcm(type));
    case encoding::flatbuffer: return outcome(read_flatbuffer(type));
    case encoding::protobuf: return outcome(read_protobuf(type));
    case encoding::ros2: return outcome(read_ros2(type));
    case encoding::json: return outcome(json_document::parse(type.schema));
    default: return {};
  }
}

}  // namespace orc::detail
