#include "schema/flatbuffer/flatbuffer_comparison.h"

#include <map>
#include <set>

#include "base/text/printable.h"
#include "schema/flatbuffer/flatbuffer_text.h"
#include "schema/limits.h"

namespace orc::detail {
namespace {

class flatbuffer_comparison {
 public:
  flatbuffer_comparison(const flatbuffer_types& published, const flatbuffer_types& expected, const sentences& words)
      : published_(published), expected_(expected), words_(words) {}

  difference compare() { return objects(published_.root, expected_.root, "", 1); }

 private:
  using found = std::optional<std::string>;

  static difference too_large() { return bad_schema("the types are too large or nested too deep to be compared"); }
  static std::string place(const std::string& path, const flatbuffer_field& field) {
    return sentences::field(sentences::joined(path, field.name));
  }
  static std::string kind_of(const flatbuffer_type& type) {
    return type_of({}, {.kind = is_list(type.kind) ? type.element : type.kind});
  }
  // The types of a union's members are compared where the union itself is.
  static bool has_values(const flatbuffer_type& type) {
    return type.enumeration && type.kind != flatbuffer_kind::union_type && type.element != flatbuffer_kind::union_type;
  }
  static std::string text_of(const flatbuffer_types& all, const flatbuffer_field& field) {
    return (field.required ? "required " : "") + type_of(all, field);
  }

  difference objects(std::size_t published_index, std::size_t expected_index, const std::string& path,
                     std::size_t level) {
    if (!seen_objects_.emplace(published_index, expected_index).second) return found();
    const auto& there = published_.objects[published_index];
    const auto& here = expected_.objects[expected_index];
    steps_ += there.fields.size() + here.fields.size() + 1;
    if (steps_ > max_comparison_steps || level > 2 * max_type_levels) return too_large();
    if (there.is_struct != here.is_struct) {
      const auto text = [](bool is_struct) { return std::string(is_struct ? "a struct" : "a table"); };
      return words_.differs(escaped(there.name), text(there.is_struct), text(here.is_struct));
    }
    if (auto moved = ids(there, here, path)) return moved;
    auto mine = here.fields.begin();
    for (auto theirs = there.fields.begin(); theirs != there.fields.end() || mine != here.fields.end();) {
      if (mine == here.fields.end() || (theirs != there.fields.end() && theirs->id < mine->id)) {
        if (theirs->required || there.is_struct) {
          return words_.only_there(place(path, *theirs), text_of(published_, *theirs));
        }
        ++theirs;
      } else if (theirs == there.fields.end() || mine->id < theirs->id) {
        if (mine->required || there.is_struct) {
          return words_.only_here(place(path, *mine), text_of(expected_, *mine));
        }
        ++mine;
      } else {
        auto different = fields(*theirs++, *mine++, there.is_struct, path, level);
        if (!different || *different) return different;
      }
    }
    return there.is_struct ? layouts(there, here, path) : found();
  }

  // A name that both have must have the same id.
  [[nodiscard]] found ids(const flatbuffer_object& there, const flatbuffer_object& here,
                          const std::string& path) const {
    std::map<std::string_view, std::uint16_t> mine;
    for (const auto& each : here.fields) mine.emplace(each.name, each.id);
    for (const auto& each : there.fields) {
      const auto match = mine.find(each.name);
      if (match == mine.end() || match->second == each.id) continue;
      return "the id of " + words_.differs(place(path, each), std::to_string(each.id), std::to_string(match->second));
    }
    return {};
  }

  [[nodiscard]] found layouts(const flatbuffer_object& there, const flatbuffer_object& here,
                              const std::string& path) const {
    const auto what = [&](const char* of) {
      return std::string("the ") + of + " of " + (path.empty() ? escaped(there.name) : "`" + path + "`");
    };
    const auto bytes = [](std::int32_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); };
    if (there.size != here.size) return words_.differs(what("size"), bytes(there.size), bytes(here.size));
    if (there.alignment == here.alignment) return {};
    return words_.differs(what("alignment"), bytes(there.alignment), bytes(here.alignment));
  }

  [[nodiscard]] bool same_names(const flatbuffer_type& there, const flatbuffer_type& here) const {
    if (there.object.has_value() != here.object.has_value()) return false;
    if (there.object && published_.objects[*there.object].name != expected_.objects[*here.object].name) return false;
    if (there.enumeration.has_value() != here.enumeration.has_value()) return false;
    return !there.enumeration ||
           published_.enumerations[*there.enumeration].name == expected_.enumerations[*here.enumeration].name;
  }

  difference fields(const flatbuffer_field& there, const flatbuffer_field& here, bool in_struct,
                    const std::string& path, std::size_t level) {
    const bool same_type = there.type.kind == here.type.kind && there.type.element == here.type.element &&
                           there.type.length == here.type.length && same_names(there.type, here.type);
    if (!same_type || there.required != here.required || there.is_far != here.is_far) {
      auto text_there = text_of(published_, there);
      auto text_here = text_of(expected_, here);
      if (text_there == text_here) {  // enums of the same name over other numbers
        text_there += " (" + kind_of(there.type) + ")";
        text_here += " (" + kind_of(here.type) + ")";
      }
      return words_.differs(place(path, there), text_there, text_here);
    }
    if (in_struct && there.offset != here.offset) {
      return place(path, there) + " begins at byte " + std::to_string(there.offset) + " " + words_.there() +
             ", at byte " + std::to_string(here.offset) + " here";
    }
    const auto default_there = default_of(there);
    const auto default_here = default_of(here);
    if (!in_struct && default_there != default_here) {
      return "the default of " + words_.differs(place(path, there), default_there, default_here);
    }
    const auto& name = sentences::joined(path, there.name);
    if (there.type.object) return objects(*there.type.object, *here.type.object, name, level + 1);
    if (has_values(there.type)) return enumerations(*there.type.enumeration, *here.type.enumeration, name, level);
    return found();
  }

  difference enumerations(std::size_t published_index, std::size_t expected_index, const std::string& path,
                          std::size_t level) {
    if (!seen_enumerations_.emplace(published_index, expected_index).second) return found();
    const auto& there = published_.enumerations[published_index];
    const auto& here = expected_.enumerations[expected_index];
    steps_ += there.values.size() + here.values.size();
    if (steps_ > max_comparison_steps) return too_large();
    if (there.is_union != here.is_union || there.underlying != here.underlying) {
      const auto text = [&](const flatbuffer_enum& one) {
        return one.is_union ? "a union" : "an enum of " + type_of(published_, {.kind = one.underlying});
      };
      return words_.differs(escaped(there.name), text(there), text(here));
    }
    std::map<std::string_view, std::int64_t> numbers;
    for (const auto& each : here.values) numbers.emplace(each.name, each.value);
    for (const auto& each : there.values) {
      const auto match = numbers.find(each.name);
      if (match == numbers.end() || match->second == each.value) continue;
      return words_.differs("value `" + escaped(each.name) + "` of " + sentences::field(path),
                            std::to_string(each.value), std::to_string(match->second));
    }
    return there.is_union ? members(there, here, path, level) : found();
  }

  // The tables and structs of a union, by number.
  difference members(const flatbuffer_enum& there, const flatbuffer_enum& here, const std::string& path,
                     std::size_t level) {
    std::map<std::int64_t, std::optional<std::size_t>> types;
    for (const auto& each : here.values) types.emplace(each.value, each.object);
    const auto name = [](const flatbuffer_types& all, std::optional<std::size_t> object) {
      return object ? escaped(all.objects[*object].name) : std::string("not a table");
    };
    for (const auto& each : there.values) {
      const auto match = types.find(each.value);
      if (match == types.end()) continue;
      if (name(published_, each.object) != name(expected_, match->second)) {
        return words_.differs("value " + std::to_string(each.value) + " of " + sentences::field(path),
                              name(published_, each.object), name(expected_, match->second));
      }
      if (!each.object) continue;
      auto different = objects(*each.object, *match->second, sentences::joined(path, each.name), level + 1);
      if (!different || *different) return different;
    }
    return found();
  }

  const flatbuffer_types& published_;
  const flatbuffer_types& expected_;
  const sentences& words_;
  std::set<std::pair<std::size_t, std::size_t>> seen_objects_;
  std::set<std::pair<std::size_t, std::size_t>> seen_enumerations_;
  std::size_t steps_ = 0;
};

}  // namespace

difference compare_flatbuffers(const flatbuffer_types& published, const flatbuffer_types& expected,
                               const sentences& words) {
  return flatbuffer_comparison(published, expected, words).compare();
}

}  // namespace orc::detail
