#include "tools/web/ros2/ros2msg_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/text/printable.h"
#include "orc/type_description.h"
#include "tools/web/ros2/ros2_names.h"

namespace orc::web {
namespace {

// The limits of readers of ros2msg, ours among them.
constexpr std::size_t max_levels = 64;
constexpr std::size_t max_members = 65'536;  // types, fields and constants
constexpr std::size_t max_elements = std::numeric_limits<std::int32_t>::max();

constexpr std::string_view package = "orc/";
constexpr std::string_view message_package = "orc/msg/";
constexpr std::string_view only_member = "uint8 structure_needs_at_least_one_member\n";

// Dimensions of the array in ROS 2: the last one of char is a string.
std::size_t dimensions_of(const schema_field& field) noexcept {
  const std::size_t all = field.dimensions.size();
  return field.kind == field_kind::character && all != 0 ? all - 1 : all;
}

struct number_range {
  std::int64_t least;
  std::int64_t most;
};

number_range range_of(field_kind kind) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  switch (kind) {
    case field_kind::int8: return {-0x80, 0x7f};
    case field_kind::uint8: return {0, 0xff};
    case field_kind::int16: return {-0x8000, 0x7fff};
    case field_kind::uint16: return {0, 0xffff};
    case field_kind::int32: return {-0x80000000LL, 0x7fffffff};
    case field_kind::uint32: return {0, 0xffffffffLL};
    case field_kind::uint64: return {0, most};
    default: return {std::numeric_limits<std::int64_t>::min(), most};
  }
}

class writer {
 public:
  writer(const schema& from, std::string& problem) : from_(from), problem_(problem) {}

  bool write(std::string_view type_name, ros2msg& made) {
    if (from_.structures.empty()) return fail("its schema has no fields, only a fingerprint");
    nodes_.resize(from_.structures.size());
    if (!visit(0, type_name, 1)) return false;
    for (const std::size_t index : order_) {
      if (!text_.empty()) {
        text_.append(80, '=');
        text_ += "\nMSG: ";
        text_ += package;
        text_ += nodes_[index].name + "\n";
      }
      if (!message(from_.structures[index])) return false;
      if (members_ > max_members) return fail("it has more than 65,536 types, fields and named values");
      if (text_.size() > max_schema_bytes) return fail("its definition in ROS 2 has more than 1 MiB");
    }
    made.name = message_package;
    made.name += nodes_[0].name;
    made.text = std::move(text_);
    return true;
  }

 private:
  enum class state : std::uint8_t { unseen, open, done };
  struct node {
    std::string name = {};
    state seen = state::unseen;
    std::size_t levels = 0;  // of structures in each other, this one included
  };

  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  // Gives names to the structure and those in it. LCM's have names; others are named after the way to them.
  bool visit(std::size_t index, std::string_view name, std::size_t level) {
    node& here = nodes_[index];
    if (here.seen == state::open) {
      return fail("`" + detail::escaped(from_.structures[index].name) +
                  "` contains itself, which ROS 2 does not allow");
    }
    if (level - 1 + std::max<std::size_t>(here.levels, 1) > max_levels) {
      return fail("its structures are nested more than 64 levels deep");
    }
    if (here.seen == state::done) return true;
    here.seen = state::open;
    here.name = type_names_.add_variant(ros2_type_name(name), "");
    order_.push_back(index);
    std::size_t most = 0;
    for (const auto& field : from_.structures[index].fields) {
      if (field.kind != field_kind::structure) continue;
      const std::string& own = from_.structures[field.structure].name;
      if (!visit(field.structure, own.empty() ? here.name + "." + field.name : own, level + 1)) return false;
      most = std::max(most, nodes_[field.structure].levels);
    }
    here.levels = most + 1;
    here.seen = state::done;
    return true;
  }

  bool message(const schema_structure& of) {
    members_ += 1 + std::max<std::size_t>(of.fields.size(), 1);
    if (!of.comment.empty()) {
      comment(of.comment);
      text_ += '\n';  // a blank line: it is not about the first field
    }
    if (of.fields.empty()) text_ += only_member;
    const auto names = field_names(of);
    unique_names constants;
    for (std::size_t i = 0; i < of.fields.size(); ++i) {
      const schema_field& each = of.fields[i];
      values(each, names[i], constants);
      comments(each, names[i]);
      if (!type(each)) return false;
      text_ += ' ';
      text_ += names[i] + "\n";
    }
    return true;
  }

  // Names that are allowed stay, whatever the others become.
  static std::vector<std::string> field_names(const schema_structure& of) {
    std::vector<std::string> names;
    unique_names taken;
    for (const auto& each : of.fields) {
      names.push_back(ros2_field_name(each.name));
      if (names.back() == each.name) taken.add(each.name);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != of.fields[i].name) names[i] = taken.add_variant(names[i], "_");
    }
    return names;
  }

  void values(const schema_field& of, const std::string& field_name, unique_names& taken) {
    const number_range range = range_of(of.kind);
    for (const auto& each : of.values) {
      if (each.value < range.least || each.value > range.most) continue;  // no sample can have it
      ++members_;
      text_ += to_string(of.kind);
      text_ += ' ';
      text_ += taken.add_variant(ros2_constant_name(field_name + "_" + each.name), "_");
      text_ += '=' + std::to_string(each.value) + "\n";
    }
  }

  void comments(const schema_field& of, const std::string& name) {
    comment(of.comment);
    if (dimensions_of(of) > 1) comment("shape " + shape_text(of) + ", row-major");
    if (!of.unit.empty()) comment("[" + of.unit + "]");
    if (name != of.name) comment("original name: " + detail::escaped(of.name, detail::backslashes::kept));
  }

  // Each line of it, as a comment.
  void comment(std::string_view lines) {
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      text_ += "# " + detail::escaped(lines.substr(0, end), detail::backslashes::kept) + "\n";
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }

  static std::string shape_text(const schema_field& of) {
    std::string made;
    for (std::size_t i = 0; i < dimensions_of(of); ++i) {
      const dimension& each = of.dimensions[i];
      made += "[" + (each.variable ? each.length : std::to_string(each.size)) + "]";
    }
    return made;
  }

  bool type(const schema_field& of) {
    if (of.kind == field_kind::structure) {
      text_ += package;
      text_ += nodes_[of.structure].name;
    } else if (of.kind == field_kind::character) {
      text_ += "string";
    } else {
      text_ += to_string(of.kind);
    }
    std::size_t elements = 1;
    bool variable = false;
    for (std::size_t i = 0; i < dimensions_of(of); ++i) {
      variable = variable || of.dimensions[i].variable;
      elements = std::min(elements * of.dimensions[i].size, max_elements + 1);  // both below 2^32
    }
    if (variable) {
      text_ += "[]";
    } else if (elements > max_elements) {
      return fail("the array `" + detail::escaped(of.name) + "` has more than 2,147,483,647 elements");
    } else if (dimensions_of(of) != 0) {
      text_ += "[" + std::to_string(elements) + "]";
    }
    return true;
  }

  const schema& from_;
  std::string& problem_;
  std::vector<node> nodes_;  // per structure
  std::vector<std::size_t> order_;
  unique_names type_names_;
  std::size_t members_ = 0;
  std::string text_;
};

}  // namespace

bool write_ros2msg(const schema& from, std::string_view type_name, ros2msg& made, std::string& problem) {
  return writer(from, problem).write(type_name, made);
}

}  // namespace orc::web
