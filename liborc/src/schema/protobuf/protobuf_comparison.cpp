#include "schema/protobuf/protobuf_comparison.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text/printable.h"
#include "schema/limits.h"

namespace orc::detail {
namespace {

constexpr std::array<std::string_view, 19> kind_words{
    "unknown", "double",  "float", "int64",  "uint64", "int32",    "fixed64",  "fixed32", "bool",  "string",
    "group",   "message", "bytes", "uint32", "enum",   "sfixed32", "sfixed64", "sint32",  "sint64"};

bool is_message(protobuf_kind kind) noexcept { return kind == protobuf_kind::message || kind == protobuf_kind::group; }

class protobuf_comparison {
 public:
  protobuf_comparison(const protobuf_types& published, const protobuf_types& expected, const sentences& words)
      : published_(published), expected_(expected), words_(words) {}

  difference compare() { return messages(published_.root, expected_.root, "", 1); }

 private:
  using found = std::optional<std::string>;

  difference messages(std::size_t published_index, std::size_t expected_index, const std::string& path,
                      std::size_t level) {
    if (!seen_.emplace(published_index, expected_index).second) return found();
    const auto& there = published_.messages[published_index].fields;
    const auto& here = expected_.messages[expected_index].fields;
    steps_ += there.size() + here.size() + 1;
    if (steps_ > max_comparison_steps || level > 2 * max_type_levels) return too_large();
    oneof_pairs oneofs;
    auto mine = here.begin();
    for (auto theirs = there.begin(); theirs != there.end() || mine != here.end();) {
      if (mine == here.end() || (theirs != there.end() && theirs->number < mine->number)) {
        if (theirs->label == protobuf_label::required) {
          return words_.only_there(place(path, *theirs), type_of(published_, *theirs));
        }
        ++theirs;
      } else if (theirs == there.end() || mine->number < theirs->number) {
        if (mine->label == protobuf_label::required) {
          return words_.only_here(place(path, *mine), type_of(expected_, *mine));
        }
        ++mine;
      } else {
        auto different = fields(*theirs, *mine, path, level);
        if (!different || *different) return different;
        if (auto apart = oneofs.add(*theirs, *mine)) return other_oneof(*apart, *theirs, path);
        ++theirs;
        ++mine;
      }
    }
    return found();
  }

  static std::string place(const std::string& path, const protobuf_field& field) {
    return sentences::field(sentences::joined(path, field.name));
  }

  static difference too_large() { return bad_schema("the types are too large or nested too deep to be compared"); }

  difference fields(const protobuf_field& there, const protobuf_field& here, const std::string& path,
                    std::size_t level) {
    if (there.kind != here.kind || there.label != here.label) {
      const bool both_may_miss = there.kind == here.kind && there.label != here.label &&
                                 there.label != protobuf_label::repeated && here.label != protobuf_label::repeated;
      // "double" and "required double": the word says it.
      const auto text = [&](const protobuf_types& all, const protobuf_field& field) {
        return (both_may_miss && field.label == protobuf_label::optional ? "optional " : "") + type_of(all, field);
      };
      return words_.differs(place(path, there), text(published_, there), text(expected_, here));
    }
    if (there.kind == protobuf_kind::enumeration) {
      auto different = enumerations(there, here, path);
      if (!different || *different) return different;
    }
    if (!is_message(there.kind)) return defaults(there, here, path);
    return messages(there.type, here.type, sentences::joined(path, there.name), level + 1);
  }

  // A field that a sample does not have is its default.
  difference defaults(const protobuf_field& there, const protobuf_field& here, const std::string& path) {
    if (there.label == protobuf_label::repeated) return found();
    const auto theirs = default_of(published_, there);
    const auto mine = default_of(expected_, here);
    if (theirs == mine) return found();
    if (there.kind == protobuf_kind::enumeration) {
      const auto& values_there = published_.enumerations[there.type].values;
      const auto& values_here = expected_.enumerations[here.type].values;
      steps_ += values_there.size() + values_here.size();
      if (steps_ > max_comparison_steps) return too_large();
      const auto number = number_of(values_there, theirs);
      if (number && number == number_of(values_here, mine)) return found();
    }
    return words_.differs("the default of " + place(path, there), default_text(there.kind, theirs),
                          default_text(here.kind, mine));
  }

  static std::string_view default_of(const protobuf_types& all, const protobuf_field& field) {
    if (field.default_value) return *field.default_value;
    if (field.kind == protobuf_kind::string || field.kind == protobuf_kind::bytes) return "";
    if (field.kind == protobuf_kind::boolean) return "false";
    if (field.kind != protobuf_kind::enumeration) return "0";
    const auto& values = all.enumerations[field.type].values;
    return values.empty() ? std::string_view() : values.front().first;
  }

  static std::optional<std::int32_t> number_of(const std::vector<std::pair<std::string, std::int32_t>>& values,
                                               std::string_view name) {
    for (const auto& [each, number] : values) {
      if (each == name) return number;
    }
    return {};
  }

  static std::string default_text(protobuf_kind kind, std::string_view value) {
    if (value.empty()) return "empty";
    auto text = escaped(value.substr(0, max_schema_name_bytes));
    const bool is_number =
        kind != protobuf_kind::string && kind != protobuf_kind::bytes && kind != protobuf_kind::enumeration;
    return is_number ? text : "`" + text + "`";
  }

  // Which numbers that both have share a oneof. A oneof of one end is known by its first such field.
  class oneof_pairs {
   public:
    struct apart {
      std::string first;  // the field of the publisher
      bool together_there = false;
    };

    // Returns the field with which this one is in one oneof at one end only.
    std::optional<apart> add(const protobuf_field& there, const protobuf_field& here) {
      const auto theirs = oneof_of(there);
      const auto mine = oneof_of(here);
      const member now{there.name, theirs, mine};
      if (theirs) {
        const auto [place, is_first] = there_.emplace(*theirs, now);
        const auto& first = place->second;
        if (!is_first && (!mine || first.here != mine)) return apart{first.name, true};
      }
      if (mine) {
        const auto [place, is_first] = here_.emplace(*mine, now);
        const auto& first = place->second;
        if (!is_first && (!theirs || first.there != theirs)) return apart{first.name, false};
      }
      return {};
    }

   private:
    struct member {
      std::string name;
      std::optional<std::size_t> there;
      std::optional<std::size_t> here;
    };
    // An optional field of proto3 has a oneof of its own, which is not written.
    static std::optional<std::size_t> oneof_of(const protobuf_field& field) {
      return field.has_presence ? std::nullopt : field.oneof;
    }

    std::map<std::size_t, member> there_;
    std::map<std::size_t, member> here_;
  };

  difference other_oneof(const oneof_pairs::apart& apart, const protobuf_field& there, const std::string& path) const {
    const auto first = " oneof with `" + sentences::joined(path, apart.first) + "`";
    return words_.differs(place(path, there), (apart.together_there ? "in one" : "in no") + first,
                          (apart.together_there ? "in no" : "in one") + first);
  }

  difference enumerations(const protobuf_field& there, const protobuf_field& here, const std::string& path) {
    const auto& theirs = published_.enumerations[there.type].values;
    const auto& mine = expected_.enumerations[here.type].values;
    if (!seen_enumerations_.emplace(there.type, here.type).second) return found();
    steps_ += theirs.size() + mine.size();
    if (steps_ > max_comparison_steps) return too_large();
    // Several names may have one number: one in common is enough.
    std::map<std::int32_t, std::set<std::string_view>> names;
    std::set<std::int32_t> agreed;
    for (const auto& [name, number] : mine) names[number].insert(name);
    for (const auto& [name, number] : theirs) {
      const auto known = names.find(number);
      if (known == names.end() || known->second.count(name) != 0) agreed.insert(number);
    }
    for (const auto& [name, number] : theirs) {
      if (agreed.count(number) != 0) continue;
      const auto first_of_mine =
          std::find_if(mine.begin(), mine.end(), [n = number](const auto& each) { return each.second == n; });
      return words_.differs("value " + std::to_string(number) + " of " + place(path, there), "`" + escaped(name) + "`",
                            "`" + escaped(first_of_mine->first) + "`");
    }
    return found();
  }

  const protobuf_types& published_;
  const protobuf_types& expected_;
  const sentences& words_;
  std::set<std::pair<std::size_t, std::size_t>> seen_;
  std::set<std::pair<std::size_t, std::size_t>> seen_enumerations_;
  std::size_t steps_ = 0;
};

const protobuf_field* entry_part(const protobuf_message& entry, std::int32_t number) noexcept {
  for (const auto& each : entry.fields) {
    if (each.number == number) return &each;
  }
  return nullptr;
}

// The name of a type that is not repeated. The parts of a map are no maps: `in_map` ends the recursion that a schema
// could ask for.
std::string plain_type(const protobuf_types& all, const protobuf_field& field, bool in_map) {
  if (field.kind == protobuf_kind::enumeration) return escaped(all.enumerations[field.type].name);
  if (!is_message(field.kind)) return std::string(kind_words[static_cast<std::size_t>(field.kind)]);
  const auto& message = all.messages[field.type];
  const auto* const key = entry_part(message, 1);
  const auto* const value = entry_part(message, 2);
  if (message.is_map_entry && !in_map && key != nullptr && value != nullptr) {
    return "map<" + plain_type(all, *key, true) + ", " + plain_type(all, *value, true) + ">";
  }
  return (field.kind == protobuf_kind::group ? "group " : "") + escaped(message.name);
}

bool is_map(const protobuf_types& all, const protobuf_field& field) {
  return is_message(field.kind) && all.messages[field.type].is_map_entry;
}

void append_message(std::string& to, const protobuf_types& all, const protobuf_message& message) {
  for (const auto& each : message.fields) {
    to += each.has_presence ? "  optional " : "  ";
    to += type_of(all, each) + " " + escaped(each.name) + " = " + std::to_string(each.number);
    if (each.oneof && !each.has_presence) to += " (one of " + escaped(message.oneofs[*each.oneof]) + ")";
    to += "\n";
  }
}

void append_enumeration(std::string& to, const protobuf_enum& enumeration) {
  to += "\n" + escaped(enumeration.name) + "\n";
  for (const auto& [name, number] : enumeration.values)
    to += "  " + escaped(name) + " = " + std::to_string(number) + "\n";
}

}  // namespace

difference compare_protobuf(const protobuf_types& published, const protobuf_types& expected, const sentences& words) {
  return protobuf_comparison(published, expected, words).compare();
}

std::string type_of(const protobuf_types& all, const protobuf_field& field) {
  std::string text;
  if (field.label == protobuf_label::repeated && !is_map(all, field)) text = "repeated ";
  if (field.label == protobuf_label::required) text = "required ";
  return text + plain_type(all, field, false);
}

std::string protobuf_text(const protobuf_types& all, const std::string& title) {
  std::string text = title + "\n";
  std::set<std::size_t> seen{all.root};
  std::vector<std::size_t> order{all.root};
  std::set<std::size_t> seen_enumerations;
  std::vector<std::size_t> enumerations;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& message = all.messages[order[i]];
    if (i > 0 && !message.is_map_entry) text += "\n" + escaped(message.name) + "\n";
    if (!message.is_map_entry) append_message(text, all, message);
    for (const auto& each : message.fields) {
      if (is_message(each.kind) && seen.insert(each.type).second) order.push_back(each.type);
      if (each.kind == protobuf_kind::enumeration && seen_enumerations.insert(each.type).second) {
        enumerations.push_back(each.type);
      }
    }
  }
  for (const auto each : enumerations) append_enumeration(text, all.enumerations[each]);
  return text;
}

}  // namespace orc::detail
