#include "schema/flatbuffer/flatbuffer_schema.h"

#include <algorithm>
#include <set>

#include "base/text/printable.h"
#include "orc/type_description.h"
#include "schema/flatbuffer/flatbuffer_reader.h"
#include "schema/flatbuffer/flatbuffer_visits.h"
#include "schema/limits.h"
#include "schema/trimmed.h"

namespace orc::detail {
namespace {

// Ids of fields in reflection.fbs.
enum type_id : std::size_t { type_base, type_element, type_index, type_length };
enum value_id : std::size_t { value_name, value_number, value_union_type = 3 };
enum enum_id : std::size_t { enum_name, enum_values, enum_is_union, enum_underlying };
enum field_id : std::size_t {
  field_name,
  field_type,
  field_number,
  field_offset,
  field_default_integer,
  field_default_real,
  field_deprecated,
  field_required,
  field_attributes = 9,
  field_documentation,
  field_optional,
  field_offset64 = 13
};
enum object_id : std::size_t {
  object_name,
  object_fields,
  object_is_struct,
  object_alignment,
  object_size,
  object_documentation = 6
};
enum schema_id : std::size_t { schema_objects, schema_enums, schema_root = 4 };
enum attribute_id : std::size_t { attribute_key, attribute_value };

constexpr std::size_t max_comment_bytes = max_schema_bytes;  // of all comments together

class flatbuffer_parser {
 public:
  explicit flatbuffer_parser(std::string_view bytes) noexcept : bytes_(bytes) {}

  expected<flatbuffer_types> parse(std::string_view root) {
    const auto all = flatbuffer_table::root(bytes_);
    const auto objects = all.vector(schema_objects);
    const auto enumerations = all.vector(schema_enums);
    if (objects.size() + enumerations.size() > max_schema_fields) fail(too_many);
    object_count_ = objects.size();
    enum_count_ = enumerations.size();
    for (std::size_t i = 0; i < object_count_ && !failed(); ++i) object(objects.table(i));
    for (std::size_t i = 0; i < enum_count_ && !failed(); ++i) enumeration(enumerations.table(i));
    if (!failed()) find_root(all, objects, root);
    if (bytes_.failed()) return bad_schema("byte " + std::to_string(bytes_.failed_at()) + ": not a binary schema");
    if (failed()) return bad_schema(why_);
    return std::move(made_);
  }

 private:
  static constexpr const char* too_many = "more than 65536 types, fields and values";

  [[nodiscard]] bool failed() const noexcept { return !why_.empty() || bytes_.failed(); }
  void fail(const std::string& why) {
    if (why_.empty()) why_ = why;
  }
  void fail_at(const flatbuffer_table& table, const std::string& why) {
    fail("byte " + std::to_string(table.at()) + ": " + why);
  }
  void count_one() {
    if (++counted_ > max_schema_fields) fail(too_many);
  }

  std::string name_of(const flatbuffer_table& table) {
    const auto name = table.text(0);
    if (name.empty() || name.size() > max_schema_name_bytes) fail_at(table, "a name has 1 to 255 bytes");
    return failed() ? std::string() : std::string(name);
  }

  // The texts of several tables may be the same bytes, so all together are limited.
  std::string bounded(std::string_view text) {
    comment_bytes_ += text.size();
    if (comment_bytes_ > max_comment_bytes) fail("its comments have more than 1 MiB");
    return failed() ? std::string() : std::string(text);
  }

  std::string documentation(const flatbuffer_table& table, std::size_t id) {
    const auto lines = table.vector(id);
    std::string text;
    for (std::size_t i = 0; i < lines.size() && !failed(); ++i) {
      comment_bytes_ += 1;
      const auto line = bounded(trimmed(lines.text(i)));
      if (!text.empty()) text += '\n';
      text += line;
    }
    return text;
  }

  flatbuffer_kind kind_of(const flatbuffer_table& type, std::size_t id) {
    const auto number = type.number<std::uint8_t>(id);
    if (number > static_cast<std::uint8_t>(flatbuffer_kind::vector64)) fail_at(type, "an unknown type");
    return failed() ? flatbuffer_kind::none : static_cast<flatbuffer_kind>(number);
  }

  flatbuffer_type type_of(const flatbuffer_table& from, const flatbuffer_table& owner) {
    flatbuffer_type made;
    if (!from.exists()) {
      fail_at(owner, "a type is missing");
      return made;
    }
    made.kind = kind_of(from, type_base);
    made.element = kind_of(from, type_element);
    made.length = from.number<std::uint16_t>(type_length);
    if (!is_list(made.kind)) made.element = flatbuffer_kind::none;
    const auto innermost = is_list(made.kind) ? made.element : made.kind;
    if (innermost == flatbuffer_kind::none || is_list(innermost)) {
      fail_at(from, "an unknown type");
    }
    const auto index = from.number<std::int32_t>(type_index, -1);
    const bool needs_enum = innermost == flatbuffer_kind::one_of || innermost == flatbuffer_kind::union_type;
    if (innermost == flatbuffer_kind::object) {
      if (index < 0 || static_cast<std::size_t>(index) >= object_count_) fail_at(from, "an unknown table or struct");
      made.object = static_cast<std::size_t>(index);
    } else if (index >= 0 || needs_enum) {
      if (index < 0 || static_cast<std::size_t>(index) >= enum_count_) fail_at(from, "an unknown enum or union");
      made.enumeration = static_cast<std::size_t>(index);
    }
    return made;
  }

  void object(const flatbuffer_table& from) {
    count_one();
    flatbuffer_object made;
    made.name = name_of(from);
    made.is_struct = from.number<std::uint8_t>(object_is_struct) != 0;
    made.alignment = from.number<std::int32_t>(object_alignment);
    made.size = from.number<std::int32_t>(object_size);
    made.comment = documentation(from, object_documentation);
    const auto fields = from.vector(object_fields);
    std::set<std::string> names;
    for (std::size_t i = 0; i < fields.size() && !failed(); ++i) {
      made.fields.push_back(field(fields.table(i)));
      if (!names.insert(made.fields.back().name).second) fail_at(from, "two fields have the same name");
    }
    std::sort(made.fields.begin(), made.fields.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < made.fields.size(); ++i) {
      if (made.fields[i].id == made.fields[i - 1].id) fail_at(from, "two fields have the same id");
    }
    made_.objects.push_back(std::move(made));
  }

  flatbuffer_field field(const flatbuffer_table& from) {
    count_one();
    flatbuffer_field made;
    made.name = name_of(from);
    made.id = from.number<std::uint16_t>(field_number);
    made.offset = from.number<std::uint16_t>(field_offset);
    made.default_integer = from.number<std::int64_t>(field_default_integer);
    made.default_real = from.real(field_default_real);
    made.deprecated = from.number<std::uint8_t>(field_deprecated) != 0;
    made.required = from.number<std::uint8_t>(field_required) != 0;
    made.optional = from.number<std::uint8_t>(field_optional) != 0;
    const auto type = from.table(field_type);
    made.type = type_of(type, from);
    made.is_far = made.type.kind == flatbuffer_kind::vector64 || from.number<std::uint8_t>(field_offset64) != 0;
    const bool can_be_far = is_list(made.type.kind) || made.type.kind == flatbuffer_kind::string;
    if (made.is_far && !can_be_far) fail_at(type, "an unknown type");
    made.comment = documentation(from, field_documentation);
    const auto attributes = from.vector(field_attributes);
    for (std::size_t i = 0; i < attributes.size() && !failed(); ++i) {
      comment_bytes_ += 1;
      const auto each = attributes.table(i);
      if (each.text(attribute_key) == "unit") made.unit = bounded(each.text(attribute_value));
      if (comment_bytes_ > max_comment_bytes) fail("too many attributes");
    }
    return made;
  }

  void enumeration(const flatbuffer_table& from) {
    count_one();
    flatbuffer_enum made;
    made.name = name_of(from);
    made.is_union = from.number<std::uint8_t>(enum_is_union) != 0;
    const auto underlying = from.table(enum_underlying);
    made.underlying = kind_of(underlying, type_base);
    const auto values = from.vector(enum_values);
    std::set<std::string> names;
    std::set<std::int64_t> numbers;
    for (std::size_t i = 0; i < values.size() && !failed(); ++i) {
      count_one();
      const auto each = values.table(i);
      flatbuffer_value value;
      value.name = name_of(each);
      if (!names.insert(value.name).second) fail_at(from, "two values have the same name");
      value.value = each.number<std::int64_t>(value_number);
      if (made.is_union && !numbers.insert(value.value).second) fail_at(from, "two types of a union have one number");
      const auto type = each.table(value_union_type);
      if (type.exists() && type.number<std::uint8_t>(type_base) != 0) value.object = type_of(type, each).object;
      made.values.push_back(std::move(value));
    }
    made_.enumerations.push_back(std::move(made));
  }

  void find_root(const flatbuffer_table& all, const flatbuffer_vector& objects, std::string_view name) {
    const auto declared = all.table(schema_root);
    const auto text = [](std::string_view what) { return "`" + escaped(what) + "`"; };
    if (name.empty() && !declared.exists()) return fail("it has no root_type");
    for (std::size_t i = 0; i < object_count_; ++i) {
      const bool found = name.empty() ? objects.table(i).at() == declared.at() : made_.objects[i].name == name;
      if (!found) continue;
      made_.root = i;
      if (made_.objects[i].is_struct) fail(text(made_.objects[i].name) + " is a struct, not a table");
      return;
    }
    fail(name.empty() ? "its root_type is not in it" : "table " + text(name) + " is not defined");
  }

  flatbuffer_bytes bytes_;
  flatbuffer_types made_;
  std::size_t object_count_ = 0;
  std::size_t enum_count_ = 0;
  std::size_t counted_ = 0;
  std::size_t comment_bytes_ = 0;
  std::string why_;
};

}  // namespace

expected<flatbuffer_types> parse_flatbuffer_schema(std::string_view bytes, std::string_view name) {
  if (bytes.size() < 12 || bytes.substr(4, 4) != "BFBS") return bad_schema("byte 4: `BFBS` is expected");
  if (!has_few_flatbuffer_visits(bytes)) return bad_schema("too many parts of it are shared");
  return flatbuffer_parser(bytes).parse(name);
}

}  // namespace orc::detail
