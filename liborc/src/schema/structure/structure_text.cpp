#include "schema/structure/structure_text.h"

#include <algorithm>

#include "base/text/printable.h"
#include "schema/structure/structure_comparison.h"

namespace orc::detail {
namespace {

void append_structure(std::string& to, const schema& all, std::size_t index, std::size_t indent);

void append_field(std::string& to, const schema& all, const schema_field& field, std::size_t indent) {
  to.append(indent, ' ');
  to += type_of(all, field) + " " + escaped(field.name);
  if (!field.default_value.empty()) to += " = " + escaped(field.default_value);
  if (!field.values.empty()) {
    to += " {";
    for (const auto& each : field.values) {
      if (&each != &field.values.front()) to += ", ";
      to += escaped(each.name) + " = " + std::to_string(each.value);
    }
    to += "}";
  }
  if (!field.unit.empty()) to += " (" + escaped(field.unit) + ")";
  to += comment_text(field.comment) + "\n";
  if (field.kind == field_kind::structure && all.structures[field.structure].name.empty()) {
    append_structure(to, all, field.structure, indent + 2);
  }
}

// Unnamed structures do not contain themselves, and the parsers limit how deep they are nested.
void append_structure(std::string& to, const schema& all, std::size_t index, std::size_t indent) {
  const auto& structure = all.structures[index];
  for (const auto& each : structure.constants) {
    to.append(indent, ' ');
    to += "const " + escaped(each.type) + " " + escaped(each.name) + " = " + escaped(each.value) + "\n";
  }
  for (const auto& each : structure.fields) append_field(to, all, each, indent);
}

}  // namespace

std::string comment_text(std::string_view comment) {
  if (comment.empty()) return {};
  std::string line(comment);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "  # " + escaped(line, backslashes::kept);
}

std::string structure_text(const schema& all, const std::string& title) {
  std::string text = title + comment_text(all.structures.front().comment) + "\n";
  append_structure(text, all, 0, 2);
  for (std::size_t i = 1; i < all.structures.size(); ++i) {
    if (all.structures[i].name.empty()) continue;
    text += "\n" + escaped(all.structures[i].name) + comment_text(all.structures[i].comment) + "\n";
    append_structure(text, all, i, 2);
  }
  return text;
}

}  // namespace orc::detail
