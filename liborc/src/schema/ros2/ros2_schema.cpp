#include "schema/ros2/ros2_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text/printable.h"
#include "schema/limits.h"
#include "schema/ros2/ros2_type.h"
#include "schema/trimmed.h"

namespace orc::detail {
namespace {

constexpr std::string_view header_message = "std_msgs/msg/Header";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors begin a file with it

// Writers make lines of 80. Readers take other lengths too.
bool is_separator(std::string_view line) noexcept {
  return line.size() >= 3 && line.find_first_not_of('=') == std::string_view::npos;
}

// Writers leave these two out, because each reader of ROS 2 knows them.
bool is_built_in(std::string_view full_name) noexcept {
  return full_name == "builtin_interfaces/msg/Time" || full_name == "builtin_interfaces/msg/Duration";
}

schema_structure built_in(std::string full_name) {
  schema_structure made;
  made.name = std::move(full_name);
  made.fields.resize(2);
  made.fields[0].name = "sec";
  made.fields[0].kind = field_kind::int32;
  made.fields[1].name = "nanosec";
  made.fields[1].kind = field_kind::uint32;
  return made;
}

std::string_view package_of(std::string_view full_name) noexcept {
  const auto slash = full_name.find('/');
  return slash == std::string_view::npos ? std::string_view() : full_name.substr(0, slash);
}

// Removes the first word and the white space behind it, and returns the word.
std::string_view take_word(std::string_view& from) noexcept {
  const auto end = std::min(from.find_first_of(" \t"), from.size());
  const auto word = from.substr(0, end);
  from = trimmed(from.substr(end));
  return word;
}

void append_line(std::string& to, std::string_view line) {
  if (!to.empty()) to += '\n';
  to += line;
}

class ros2_parser {
 public:
  expected<schema> parse(std::string_view text, std::string_view root) {
    begin_message(ros2_full_name(root), text);
    while (!failed() && !text.empty()) {
      ++line_;
      const auto end = std::min(text.find('\n'), text.size());
      const auto line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      read_line(line, text);
    }
    if (!failed() && !name_expected_) end_message(text_);
    if (!failed()) resolve();
    if (!failed()) check_levels();
    if (failed()) return bad_schema(why_);
    keep_used();
    return std::move(made_);
  }

 private:
  struct reference {
    std::size_t structure;
    std::size_t field;
    std::string name;
    std::size_t line;
  };
  enum class visit : std::uint8_t { none, open, done };

  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  void fail_at(std::size_t line, const std::string& why) {
    if (!failed()) why_ = "line " + std::to_string(line) + ": " + why;
  }
  void fail(const std::string& why) { fail_at(line_, why); }
  static std::string quoted(std::string_view text) { return "`" + escaped(text.substr(0, 255)) + "`"; }

  void count_one() {
    if (++counted_ > max_schema_fields) fail("more than 65536 messages, fields and constants");
  }

  // `text`: its lines, and what is behind them.
  void begin_message(std::string name, std::string_view text) {
    count_one();
    structures_of_.emplace(name, made_.structures.size());
    text_ = text;
    made_.structures.emplace_back();
    made_.structures.back().name = std::move(name);
    names_.clear();
    comment_.clear();
    name_expected_ = false;
  }

  // Texts that were joined often repeat a message. All copies must be equal: readers differ in which one counts.
  void end_message(std::string_view text) {
    const auto& name = made_.structures.back().name;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (texts_.emplace(name, trimmed(text)).first->second == trimmed(text)) return;
    fail("`" + escaped(name) + "` is defined twice, in two ways");
  }

  // `behind`: the lines behind this one.
  void read_line(std::string_view line, std::string_view behind) {
    if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    const auto begin = static_cast<std::size_t>(line.data() - text_.data());
    line = trimmed(line);
    if (is_separator(line)) {
      if (!name_expected_) end_message(text_.substr(0, begin));
      name_expected_ = true;
      return;
    }
    if (name_expected_) {
      if (line.empty()) return;
      if (!line.starts_with("MSG:")) return fail("`MSG: pkg/Name` is expected, not " + quoted(line));
      const auto name = trimmed(line.substr(4));
      const auto type = parse_ros2_type(name);
      if (!type || type->kind != field_kind::structure || !type->dimensions.empty() || package_of(name).empty()) {
        return fail("`MSG: pkg/Name` is expected, not " + quoted(line));
      }
      return begin_message(ros2_full_name(name), behind);
    }
    // Some writers name the first message too.
    if (line.starts_with("MSG:") && ros2_full_name(trimmed(line.substr(4))) == made_.structures.back().name) return;
    const auto mark = std::min(line.find('#'), line.size());
    const auto statement = trimmed(line.substr(0, mark));
    auto comment = line.substr(mark);
    while (comment.starts_with('#')) comment.remove_prefix(1);
    comment = trimmed(comment);
    if (statement.empty()) {
      comment_line(comment);
    } else {
      if (!comment.empty()) append_line(comment_, comment);
      member(statement);
      comment_.clear();
    }
  }

  // Comments in front of a blank line describe the message, if they are the first thing in it.
  void comment_line(std::string_view comment) {
    if (!comment.empty()) return append_line(comment_, comment);
    auto& message = made_.structures.back();
    if (message.fields.empty() && message.constants.empty() && message.comment.empty()) message.comment = comment_;
    comment_.clear();
  }

  void member(std::string_view statement) {
    count_one();
    auto type_text = take_word(statement);
    if (type_text == "@key") type_text = take_word(statement);  // it changes no bytes
    auto type = parse_ros2_type(type_text);
    if (!type) return fail("unknown type " + quoted(type_text));
    const auto name_end = std::min(statement.find_first_of(" \t="), statement.size());
    const auto name = statement.substr(0, name_end);
    const auto rest = trimmed(statement.substr(name_end));
    if (!is_ros2_name(name)) return fail("a name is expected, not " + quoted(name));
    if (!names_.insert(std::string(name)).second) return fail("the name " + quoted(name) + " appears twice");
    auto& message = made_.structures.back();
    if (rest.starts_with('=')) {
      if (type->kind == field_kind::structure || !type->dimensions.empty()) {
        return fail("the constant " + quoted(name) + " is no number or string");
      }
      message.constants.push_back({std::string(name), std::string(type_text), std::string(trimmed(rest.substr(1)))});
      return;
    }
    schema_field made;
    made.name = name;
    made.kind = type->kind;
    made.dimensions = std::move(type->dimensions);
    made.max_length = type->max_length;
    made.default_value = rest;
    made.comment = comment_;
    if (made.kind == field_kind::structure) {
      references_.push_back({made_.structures.size() - 1, message.fields.size(), std::move(type->name), line_});
    }
    message.fields.push_back(std::move(made));
  }

  void resolve() {
    for (const auto& each : references_) {
      auto name = ros2_full_name(each.name);
      if (name.find('/') == std::string::npos) {
        const std::string package(package_of(made_.structures[each.structure].name));
        const auto own = package + "/msg/" + name;
        name = name == "Header" && structures_of_.count(own) == 0 ? std::string(header_message) : own;
      }
      const auto [found, is_new] = structures_of_.try_emplace(name, made_.structures.size());
      if (is_new && !is_built_in(name)) {
        structures_of_.erase(found);
        missing_.try_emplace(each.structure, each.line, "message " + escaped(name) + " is not defined");
        continue;
      }
      made_.structures[each.structure].fields[each.field].structure = found->second;
      if (is_new) made_.structures.push_back(built_in(std::move(name)));
    }
  }

  void check_levels() {
    visits_.assign(made_.structures.size(), visit::none);
    levels_.assign(made_.structures.size(), 0);
    (void)levels_of(0, 1);
  }

  // Returns how many messages are in each other, this one included.
  std::size_t levels_of(std::size_t index, std::size_t level) {
    if (const auto found = missing_.find(index); found != missing_.end()) {
      fail_at(found->second.first, found->second.second);
    }
    if (visits_[index] == visit::open && !failed()) why_ = escaped(made_.structures[index].name) + " contains itself";
    if (!failed() && level + levels_[index] > max_type_levels + (visits_[index] == visit::done ? 1 : 0)) {
      why_ = "messages are nested more than 64 levels deep";
    }
    if (failed() || visits_[index] == visit::done) return levels_[index];
    visits_[index] = visit::open;
    std::size_t most = 0;
    for (const auto& each : made_.structures[index].fields) {
      if (each.kind == field_kind::structure && !failed()) most = std::max(most, levels_of(each.structure, level + 1));
    }
    visits_[index] = visit::done;
    return levels_[index] = most + 1;
  }

  // Drops the messages that the root does not contain: they may use others that are not there.
  void keep_used() {
    std::vector<std::size_t> places(made_.structures.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (visits_[i] != visit::done) continue;
      places[i] = kept;
      if (kept != i) made_.structures[kept] = std::move(made_.structures[i]);
      ++kept;
    }
    made_.structures.resize(kept);
    for (auto& message : made_.structures) {
      for (auto& field : message.fields) {
        if (field.kind == field_kind::structure) field.structure = places[field.structure];
      }
    }
  }

  schema made_;
  std::size_t line_ = 0;
  std::string comment_;  // in front of the next field
  bool name_expected_ = false;
  std::set<std::string> names_;  // in this message
  std::string_view text_;        // of this message, and behind it
  std::map<std::string, std::string_view> texts_;
  std::map<std::string, std::size_t> structures_of_;
  std::map<std::size_t, std::pair<std::size_t, std::string>> missing_;  // by structure: the line, and why
  std::vector<reference> references_;
  std::vector<visit> visits_;
  std::vector<std::size_t> levels_;
  std::size_t counted_ = 0;
  std::string why_;
};

}  // namespace

std::string ros2_full_name(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, slash)) + "/msg/" + std::string(name.substr(slash + 1));
}

expected<schema> parse_ros2_schema(std::string_view text, std::string_view name) {
  return ros2_parser().parse(text, name);
}

}  // namespace orc::detail
