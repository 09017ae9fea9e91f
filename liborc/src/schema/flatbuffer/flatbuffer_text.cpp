#include "schema/flatbuffer/flatbuffer_text.h"

#include <array>
#include <charconv>
#include <set>

#include "base/text/printable.h"
#include "schema/structure/structure_text.h"

namespace orc::detail {
namespace {

constexpr std::array<std::string_view, 19> kind_names{
    "none",  "union_type", "bool",   "byte",   "ubyte",  "short", "ushort", "int",   "uint",    "long",
    "ulong", "float",      "double", "string", "vector", "table", "union",  "array", "vector64"};

std::string plain_type(const flatbuffer_types& all, flatbuffer_kind kind, const flatbuffer_type& type) {
  if (type.object) return escaped(all.objects[*type.object].name);
  if (!type.enumeration) return std::string(kind_names[static_cast<std::size_t>(kind)]);
  const auto name = escaped(all.enumerations[*type.enumeration].name);
  return kind == flatbuffer_kind::union_type ? "type of " + name : name;
}

bool is_number(flatbuffer_kind kind) noexcept {
  return kind >= flatbuffer_kind::boolean && kind <= flatbuffer_kind::float64;
}

// The shortest text of %g that stands for the number.
std::string real_text(double value) {
  std::array<char, 64> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    const auto written =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
    double read = 0;
    const auto end = std::from_chars(text.data(), written.ptr, read);
    if (digits == 17 || (end.ec == std::errc() && read == value)) return {text.data(), written.ptr};
  }
  return {};
}

void append_object(std::string& to, const flatbuffer_types& all, const flatbuffer_object& object) {
  for (const auto& each : object.fields) {
    if (each.type.kind == flatbuffer_kind::union_type) continue;
    to += "  " + type_of(all, each) + " " + escaped(each.name);
    const auto standard = default_of(each);
    if (!object.is_struct && !standard.empty() && standard != "0") to += " = " + standard;
    if (each.required) to += " [required]";
    if (each.deprecated) to += " [deprecated]";
    if (!each.unit.empty()) to += " (" + escaped(each.unit) + ")";
    to += comment_text(each.comment) + "\n";
  }
}

// What one type contains, in the order in which it is shown.
class walk {
 public:
  explicit walk(const flatbuffer_types& all) : all_(all) { add_object(all.root); }
  std::string text(const std::string& title) {
    std::string made = title + comment_text(all_.objects[all_.root].comment) + "\n";
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      const auto& object = all_.objects[objects_[i]];
      if (i > 0) {
        made += "\n" + std::string(object.is_struct ? "struct " : "table ") + escaped(object.name) +
                comment_text(object.comment) + "\n";
      }
      append_object(made, all_, object);
      for (const auto& each : object.fields) {
        if (each.type.object) add_object(*each.type.object);
        if (each.type.enumeration) add_enumeration(*each.type.enumeration);
      }
    }
    for (const auto each : enumerations_) append_enumeration(made, all_.enumerations[each]);
    return made;
  }

 private:
  void add_object(std::size_t index) {
    if (seen_objects_.insert(index).second) objects_.push_back(index);
  }
  void add_enumeration(std::size_t index) {
    if (!seen_enumerations_.insert(index).second) return;
    enumerations_.push_back(index);
    for (const auto& each : all_.enumerations[index].values) {
      if (each.object) add_object(*each.object);
    }
  }
  void append_enumeration(std::string& to, const flatbuffer_enum& enumeration) const {
    to += "\n" + std::string(enumeration.is_union ? "union " : "enum ") + escaped(enumeration.name) + "\n";
    for (const auto& each : enumeration.values) {
      to += "  " + escaped(each.name) + " = " + std::to_string(each.value);
      if (each.object) to += " (" + escaped(all_.objects[*each.object].name) + ")";
      to += "\n";
    }
  }

  const flatbuffer_types& all_;
  std::set<std::size_t> seen_objects_;
  std::set<std::size_t> seen_enumerations_;
  std::vector<std::size_t> objects_;
  std::vector<std::size_t> enumerations_;
};

}  // namespace

std::string type_of(const flatbuffer_types& all, const flatbuffer_type& type) {
  if (type.kind == flatbuffer_kind::vector || type.kind == flatbuffer_kind::vector64) {
    return "[" + plain_type(all, type.element, type) + "]";
  }
  if (type.kind == flatbuffer_kind::array) {
    return "[" + plain_type(all, type.element, type) + ":" + std::to_string(type.length) + "]";
  }
  return plain_type(all, type.kind, type);
}

std::string type_of(const flatbuffer_types& all, const flatbuffer_field& field) {
  const bool wide = field.type.kind == flatbuffer_kind::vector64;
  return type_of(all, field.type) + (wide ? " (vector64)" : field.is_far ? " (offset64)" : "");
}

std::string default_of(const flatbuffer_field& field) {
  if (!is_number(field.type.kind)) return {};
  if (field.optional) return "null";
  const bool is_real = field.type.kind == flatbuffer_kind::float32 || field.type.kind == flatbuffer_kind::float64;
  return is_real ? real_text(field.default_real) : std::to_string(field.default_integer);
}

std::string flatbuffer_text(const flatbuffer_types& all, const std::string& title) { return walk(all).text(title); }

}  // namespace orc::detail
