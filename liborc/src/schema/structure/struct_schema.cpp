#include "schema/structure/struct_schema.h"

#include <array>
#include <limits>
#include <set>

#include "base/text/printable.h"
#include "schema/limits.h"
#include "schema/structure/json_reader.h"

namespace orc::detail {
namespace {

constexpr std::int64_t max_struct_bytes = std::numeric_limits<std::uint32_t>::max();

struct number_type {
  std::string_view name;
  field_kind kind;
  std::size_t size;
};
constexpr std::array<number_type, 12> number_types{{{"bool", field_kind::boolean, 1},
                                                    {"int8", field_kind::int8, 1},
                                                    {"uint8", field_kind::uint8, 1},
                                                    {"int16", field_kind::int16, 2},
                                                    {"uint16", field_kind::uint16, 2},
                                                    {"int32", field_kind::int32, 4},
                                                    {"uint32", field_kind::uint32, 4},
                                                    {"int64", field_kind::int64, 8},
                                                    {"uint64", field_kind::uint64, 8},
                                                    {"float32", field_kind::float32, 4},
                                                    {"float64", field_kind::float64, 8},
                                                    {"char", field_kind::character, 1}}};

bool is_integer(field_kind kind) noexcept { return kind >= field_kind::int8 && kind <= field_kind::uint64; }

// Reads depth first. Each function returns nothing after it set the error.
class struct_reader {
 public:
  expected<schema> read(const json_value& root) {
    if (root.kind() != json_kind::object) fail(root, "an object is expected");
    if (!failed()) read_byte_order(root);
    if (!failed()) (void)structure(root, 1);
    if (failed()) return bad_schema(why_);
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  void fail(const json_value& where, const std::string& why) {
    if (!failed()) why_ = "byte " + std::to_string(where.offset()) + ": " + why;
  }

  // Returns the member; nothing and an error if it is missing or of another kind.
  std::optional<json_value> required(const json_value& object, std::string_view key, json_kind kind,
                                     std::string_view what) {
    const auto found = object.member(key);
    if (!found) {
      fail(object, "`" + std::string(key) + "` is missing");
      return {};
    }
    if (kind != found->kind()) {
      fail(*found, "`" + std::string(key) + "` is not " + std::string(what));
      return {};
    }
    return found;
  }

  // Returns a number of bytes, or of elements.
  std::size_t count(const json_value& from, std::int64_t least, const std::string& what) {
    const auto value = from.integer();
    if (!value || *value < least || *value > max_struct_bytes) {
      fail(from, what + " is not an integer from " + std::to_string(least) + " to " + std::to_string(max_struct_bytes));
      return 0;
    }
    return static_cast<std::size_t>(*value);
  }

  std::size_t required_count(const json_value& object, std::string_view key) {
    const auto found = required(object, key, json_kind::number, "a number");
    return found ? count(*found, 0, "`" + std::string(key) + "`") : 0;
  }

  std::string optional_text(const json_value& object, std::string_view key) {
    const auto found = object.member(key);
    if (!found) return {};
    if (found->kind() != json_kind::text) fail(*found, "`" + std::string(key) + "` is not a text");
    return found->text();
  }

  // Checks the name of a field or of a value.
  void check_name(const json_value& where, const std::string& name) {
    if (name.empty() || name.size() > max_schema_name_bytes) fail(where, "a name has 1 to 255 bytes");
  }

  void count_one(const json_value& where) {
    if (++counted_ > max_schema_fields) fail(where, "more than 65536 fields and values");
  }

  void read_byte_order(const json_value& root) {
    const auto order = required(root, "byte_order", json_kind::text, "a text");
    if (!order) return;
    const auto text = order->text();
    if (text != "little" && text != "big") fail(*order, "`byte_order` is neither \"little\" nor \"big\"");
    made_.big_endian = text == "big";
  }

  // Returns the index of the structure that was read.
  std::size_t structure(const json_value& object, std::size_t level) {
    const std::size_t index = made_.structures.size();
    made_.structures.emplace_back();
    const auto size = required_count(object, "size");
    made_.structures[index].size = size;
    const auto fields = required(object, "fields", json_kind::array, "an array");
    if (failed()) return index;
    std::vector<schema_field> read;
    std::set<std::string> names;
    for (auto each = fields->first(); each && !failed(); each = each->next()) {
      if (each->kind() != json_kind::object) {
        fail(*each, "a field is not an object");
        break;
      }
      count_one(*each);
      if (!failed()) read.push_back(field(*each, size, level));
      if (!failed() && !names.insert(read.back().name).second) {
        fail(*each, "the field `" + escaped(read.back().name) + "` appears twice");
      }
    }
    made_.structures[index].fields = std::move(read);
    return index;
  }

  schema_field field(const json_value& object, std::size_t structure_size, std::size_t level) {
    schema_field made;
    const auto name = required(object, "name", json_kind::text, "a text");
    if (!name) return made;
    made.name = name->text();
    check_name(*name, made.name);
    const auto type = object.member("type");
    if (!type) fail(object, "`type` is missing");
    if (failed()) return made;
    const std::size_t element_size = read_type(*type, level, made);
    made.offset = required_count(object, "offset");
    if (failed()) return made;
    const std::size_t elements = read_shape(object, made);
    made.unit = optional_text(object, "unit");
    made.comment = optional_text(object, "comment");
    if (!failed()) read_values(object, made);
    // Elements and sizes are below 2^32 each, so this cannot overflow.
    if (!failed() && (made.offset > structure_size || element_size * elements > structure_size - made.offset)) {
      fail(object, "the field `" + escaped(made.name) + "` ends behind byte " + std::to_string(structure_size) +
                       ", the size of its structure");
    }
    return made;
  }

  // Returns the size of one element.
  std::size_t read_type(const json_value& type, std::size_t level, schema_field& to) {
    if (type.kind() == json_kind::object) {
      if (level == max_struct_levels) {
        fail(type, "structures are nested more than 32 levels deep");
        return 0;
      }
      to.kind = field_kind::structure;
      to.structure = structure(type, level + 1);
      return made_.structures[to.structure].size;
    }
    const auto text = type.text();
    for (const auto& each : number_types) {
      if (type.kind() != json_kind::text || each.name != text) continue;
      to.kind = each.kind;
      return each.size;
    }
    fail(type, "unknown type" + (type.kind() == json_kind::text ? " `" + escaped(text.substr(0, 255)) + "`" : ""));
    return 0;
  }

  // Returns the number of elements, at most max_struct_bytes.
  std::size_t read_shape(const json_value& object, schema_field& to) {
    const auto shape = object.member("shape");
    if (!shape) return 1;
    if (shape->kind() != json_kind::array) fail(*shape, "`shape` is not an array");
    std::size_t elements = 1;
    for (auto each = shape->first(); each && !failed(); each = each->next()) {
      dimension made;
      made.size = count(*each, 1, "a dimension");
      if (failed()) break;
      to.dimensions.push_back(std::move(made));
      elements *= to.dimensions.back().size;
      if (elements > static_cast<std::size_t>(max_struct_bytes)) fail(*each, "too many elements");
      if (to.dimensions.size() > max_schema_dimensions) fail(*each, "more than 32 dimensions");
    }
    return elements;
  }

  void read_values(const json_value& object, schema_field& to) {
    const auto values = object.member("values");
    if (!values) return;
    if (values->kind() != json_kind::object) return fail(*values, "`values` is not an object");
    if (!is_integer(to.kind)) return fail(*values, "only integers have `values`");
    std::set<std::string> names;
    for (auto key = values->first(); key && !failed();) {
      const auto value = key->next();
      count_one(*key);
      enum_value made;
      made.name = key->text();
      check_name(*key, made.name);
      const auto number = value->integer();
      if (!number) fail(*value, "a value is not an integer of 64 bits");
      made.value = number.value_or(0);
      if (!names.insert(made.name).second) fail(*key, "the value `" + escaped(made.name) + "` appears twice");
      to.values.push_back(std::move(made));
      key = value->next();
    }
  }

  schema made_;
  std::size_t counted_ = 0;
  std::string why_;
};

}  // namespace

expected<schema> parse_struct_schema(std::string_view text) {
  const auto document = json_document::parse(text);
  if (!document) return document.error();
  return struct_reader().read(document->root());
}

}  // namespace orc::detail
