#include "schema/structure/structure_comparison.h"

#include <map>
#include <set>

#include "base/text/printable.h"
#include "schema/limits.h"

namespace orc::detail {
namespace {

constexpr std::size_t max_levels = 2 * max_type_levels;

std::string dimension_text(const dimension& one) {
  if (!one.variable) return "[" + std::to_string(one.size) + "]";
  if (!one.length.empty()) return "[" + escaped(one.length) + "]";
  return one.size == 0 ? "[]" : "[<=" + std::to_string(one.size) + "]";
}

std::string number_text(std::size_t index) { return "number " + std::to_string(index + 1); }
std::string byte_text(std::size_t offset) { return "byte " + std::to_string(offset); }
std::string size_text(std::size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

class structure_comparison {
 public:
  structure_comparison(const schema& published, const schema& expected, structure_rules rules, const sentences& words)
      : published_(published), expected_(expected), rules_(rules), words_(words) {}

  difference compare() {
    if (rules_.offsets && published_.big_endian != expected_.big_endian) {
      const auto order = [](bool big) { return std::string(big ? "big-endian" : "little-endian"); };
      return words_.differs("the byte order", order(published_.big_endian), order(expected_.big_endian));
    }
    return structures(0, 0, "", 1);
  }

 private:
  using found = std::optional<std::string>;
  using index_of_names = std::map<std::string_view, std::size_t>;

  static index_of_names names_of(const schema_structure& structure) {
    index_of_names names;
    for (std::size_t i = 0; i < structure.fields.size(); ++i) names.emplace(structure.fields[i].name, i);
    return names;
  }

  difference structures(std::size_t published_index, std::size_t expected_index, const std::string& path,
                        std::size_t level) {
    if (!seen_.emplace(published_index, expected_index).second) return found();
    const auto& there = published_.structures[published_index];
    const auto& here = expected_.structures[expected_index];
    steps_ += there.fields.size() + here.fields.size() + 1;
    if (steps_ > max_comparison_steps || level > max_levels) {
      return bad_schema("the types are too large or nested too deep to be compared");
    }
    const auto names_here = names_of(here);
    for (const auto& field : there.fields) {
      const auto match = names_here.find(field.name);
      const std::string place = sentences::joined(path, field.name);
      if (match == names_here.end()) {
        return words_.only_there(sentences::field(place), type_of(published_, field));
      }
      auto different = fields(field, here.fields[match->second], place, level);
      if (!different || *different) return different;
    }
    const auto names_there = names_of(there);
    for (const auto& field : here.fields) {
      if (names_there.count(field.name) != 0) continue;
      return words_.only_here(sentences::field(sentences::joined(path, field.name)), type_of(expected_, field));
    }
    return places(there, here, names_here, path);
  }

  difference fields(const schema_field& there, const schema_field& here, const std::string& path, std::size_t level) {
    const bool named = rules_.structure_names && there.kind == field_kind::structure &&
                       here.kind == field_kind::structure &&
                       published_.structures[there.structure].name != expected_.structures[here.structure].name;
    if (there.kind != here.kind || there.dimensions != here.dimensions || there.max_length != here.max_length ||
        named) {
      return words_.differs(sentences::field(path), type_of(published_, there), type_of(expected_, here));
    }
    steps_ += there.values.size() + here.values.size();
    std::map<std::string_view, std::int64_t> values;
    for (const auto& each : here.values) values.emplace(each.name, each.value);
    for (const auto& each : there.values) {
      const auto match = values.find(each.name);
      if (match == values.end() || match->second == each.value) continue;
      return words_.differs("value `" + escaped(each.name) + "` of " + sentences::field(path),
                            std::to_string(each.value), std::to_string(match->second));
    }
    if (there.kind != field_kind::structure) return found();
    return structures(there.structure, here.structure, path, level + 1);
  }

  // Both have the same fields.
  [[nodiscard]] found places(const schema_structure& there, const schema_structure& here,
                             const index_of_names& names_here, const std::string& path) const {
    for (std::size_t i = 0; i < there.fields.size(); ++i) {
      const auto& field = there.fields[i];
      const auto index = names_here.at(field.name);
      const auto what = [&] { return sentences::field(sentences::joined(path, field.name)); };
      if (rules_.order && index != i) return words_.differs(what(), number_text(i), number_text(index));
      const auto offset = here.fields[index].offset;
      if (!rules_.offsets || field.offset == offset) continue;
      return what() + " begins at " + byte_text(field.offset) + " " + words_.there() + ", at " + byte_text(offset) +
             " here";
    }
    if (!rules_.offsets || there.size == here.size) return {};
    return words_.differs(path.empty() ? "the size" : "the size of `" + path + "`", size_text(there.size),
                          size_text(here.size));
  }

  const schema& published_;
  const schema& expected_;
  structure_rules rules_;
  const sentences& words_;
  std::set<std::pair<std::size_t, std::size_t>> seen_;
  std::size_t steps_ = 0;
};

}  // namespace

std::string type_of(const schema& all, const schema_field& field) {
  std::string text(to_string(field.kind));
  if (field.kind == field_kind::structure) {
    const auto& name = all.structures[field.structure].name;
    if (!name.empty()) text = escaped(name);
  }
  if (field.max_length != 0) text += "<=" + std::to_string(field.max_length);
  for (const auto& each : field.dimensions) text += dimension_text(each);
  return text;
}

difference compare_structures(const schema& published, const schema& expected, structure_rules rules,
                              const sentences& words) {
  return structure_comparison(published, expected, rules, words).compare();
}

}  // namespace orc::detail
