#include "schema/lcm/lcm_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/text/printable.h"
#include "orc/type_description.h"
#include "schema/lcm/lcm_hash.h"
#include "schema/lcm/lcm_literals.h"
#include "schema/lcm/lcm_tokens.h"
#include "schema/limits.h"
#include "schema/trimmed.h"

namespace orc::detail {
namespace {

struct primitive {
  std::string_view name;
  field_kind kind;
};
constexpr std::array<primitive, 9> primitives{{{"int8_t", field_kind::int8},
                                               {"int16_t", field_kind::int16},
                                               {"int32_t", field_kind::int32},
                                               {"int64_t", field_kind::int64},
                                               {"byte", field_kind::uint8},
                                               {"float", field_kind::float32},
                                               {"double", field_kind::float64},
                                               {"string", field_kind::string},
                                               {"boolean", field_kind::boolean}}};

const primitive* find_primitive(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(primitives.begin(), primitives.end(), [&](const primitive& each) { return each.name == name; });
  return found == primitives.end() ? nullptr : found;
}

bool is_name(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= max_schema_name_bytes && (text.front() < '0' || text.front() > '9') &&
         std::all_of(text.begin(), text.end(), fits);
}

// A name with its package: "exlcm.example_t".
bool is_full_name(std::string_view text) noexcept {
  if (text.size() > max_schema_name_bytes) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!is_name(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool can_count(field_kind kind) noexcept {
  return kind == field_kind::int8 || kind == field_kind::int16 || kind == field_kind::int32 ||
         kind == field_kind::int64;
}

bool is_integer(std::string_view type) noexcept {
  const auto* const known = find_primitive(type);
  return known != nullptr && can_count(known->kind);
}

// Returns the number of a text that is only that line.
std::optional<std::uint64_t> fingerprint_line(std::string_view text) noexcept {
  constexpr std::string_view begin = "fingerprint 0x";
  text = trimmed(text);
  if (!text.starts_with(begin)) return {};
  text.remove_prefix(begin.size());
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() > 16 || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return value;
}

void append_comment(std::string& to, std::string_view comment) {
  if (comment.empty()) return;
  if (!to.empty()) to += '\n';
  to += comment;
}

class lcm_parser {
 public:
  explicit lcm_parser(std::string_view text) : tokens_(text) {
    current_.last_line = 0;
    advance();
  }

  expected<lcm_types> parse(std::string_view root) {
    while (!failed() && current_.kind != lcm_token::type::end) definition();
    if (!failed() && made_.definitions.structures.empty()) fail("no struct is defined");
    if (!failed()) resolve();
    if (!failed()) put_first(root);
    if (failed()) return bad_schema(why_);
    auto hash = lcm_hash(made_.definitions, made_.base_hashes);
    if (!hash) return hash.error();
    made_.fingerprint = *hash;
    return std::move(made_);
  }

 private:
  // A field whose structure may be defined further on.
  struct reference {
    std::size_t structure;
    std::size_t field;
    std::string name;
    std::size_t line;
  };

  // What a name in place of the size of an array means.
  struct size_name {
    bool counts = false;   // it is an integer member, whose value is the size
    std::string constant;  // of an integer constant: its number, as it was written
  };

  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  void fail_at(std::size_t line, const std::string& why) {
    if (!failed()) why_ = "line " + std::to_string(line) + ": " + why;
  }
  void fail(const std::string& why) { fail_at(current_.line, why); }
  // What stands where something else was expected.
  void fail_expected(std::string_view what) {
    std::string found = "`" + escaped(std::string_view(current_.text).substr(0, 64)) + "`";
    if (current_.kind == lcm_token::type::end) found = "the end of the text";
    if (current_.kind == lcm_token::type::open) found = "a comment that does not end";
    fail(std::string(what) + " is expected, not " + found);
  }

  // Moves on to the next token that is no comment, and keeps the comments between.
  void advance() {
    last_line_ = current_.last_line;
    comments_.clear();
    for (current_ = tokens_.next(); current_.kind == lcm_token::type::comment; current_ = tokens_.next()) {
      comments_.push_back(std::move(current_));
    }
  }
  bool take(char symbol) {
    if (!current_.is(symbol)) return false;
    advance();
    return true;
  }
  void require(char symbol) {
    if (!take(symbol)) fail_expected(std::string("`") + symbol + "`");
  }
  std::string take_word(std::string_view what, bool (*fits)(std::string_view)) {
    if (current_.kind != lcm_token::type::word || !fits(current_.text)) {
      fail_expected(what);
      return {};
    }
    auto text = std::move(current_.text);
    advance();
    return text;
  }

  // The comments between the last token and the current one: those behind the last one on its line, or the others.
  [[nodiscard]] std::string comment(bool same_line) const {
    std::string text;
    for (const auto& each : comments_) {
      if ((each.line == last_line_) == same_line) append_comment(text, each.text);
    }
    return text;
  }

  void definition() {
    if (current_.is_word("package")) {
      advance();
      package_ = take_word("a package", is_full_name);
      require(';');
    } else if (current_.is_word("struct")) {
      structure();
    } else if (current_.is_word("enum")) {
      fail("enum is not part of LCM's type language any more");
    } else {
      fail_expected("`struct` or `package`");
    }
  }

  [[nodiscard]] std::string full_name(const std::string& name) const {
    return package_.empty() || name.find('.') != std::string::npos ? name : package_ + "." + name;
  }

  void structure() {
    schema_structure made;
    made.comment = comment(false);
    advance();
    const auto line = current_.line;
    const auto name = take_word("the name of a struct", is_name);
    if (failed()) return;
    made.name = full_name(name);
    if (find_primitive(name) != nullptr) fail_at(line, "`" + name + "` is a primitive type");
    if (made.name.size() > max_schema_name_bytes) fail_at(line, "a name has 1 to 255 bytes");
    const std::size_t index = made_.definitions.structures.size();
    if (!structures_of_.emplace(made.name, index).second) {
      fail_at(line, "struct " + made.name + " is defined twice");
    }
    count_one();
    require('{');
    append_comment(made.comment, comment(true));
    made_.definitions.structures.push_back(std::move(made));
    made_.base_hashes.push_back(0);
    names_.clear();
    hash_ = lcm_base_hash();
    while (!failed() && !take('}')) members(index);
    made_.base_hashes[index] = hash_.value();
  }

  void count_one() {
    if (++counted_ > max_schema_fields) fail("more than 65536 structs, fields and constants");
  }

  // The name of a member or of a constant, which must be new.
  std::string new_name() {
    const auto line = current_.line;
    auto name = take_word("a name", is_name);
    if (!failed() && !names_.try_emplace(name).second) fail_at(line, "the name `" + name + "` appears twice");
    if (!failed()) count_one();
    return name;
  }

  void members(std::size_t index) {
    auto said = comment(false);
    if (current_.is_word("const")) return constants(index);
    const auto line = current_.line;
    const auto type = take_word("the type of a member", is_full_name);
    auto& fields = made_.definitions.structures[index].fields;
    const auto first = fields.size();
    do {
      if (failed()) return;
      schema_field made;
      made.name = new_name();
      hash_.member(made.name);
      if (const auto* const known = find_primitive(type)) {
        made.kind = known->kind;
        hash_.primitive(type);
      } else {
        made.kind = field_kind::structure;
        references_.push_back({index, fields.size(), full_name(type), line});
      }
      dimensions(made);
      names_[made.name].counts = made.dimensions.empty() && can_count(made.kind);
      fields.push_back(std::move(made));
    } while (take(','));
    require(';');
    append_comment(said, comment(true));
    // Each name of the list has the comment, so all together are limited.
    comment_bytes_ += said.size() * (fields.size() - first);
    if (comment_bytes_ > max_schema_bytes) return fail_at(line, "the comments of its members have more than 1 MiB");
    for (auto i = first; i < fields.size(); ++i) fields[i].comment = said;
  }

  void dimensions(schema_field& to) {
    std::vector<std::string> sizes;
    while (!failed() && take('[')) {
      dimension made;
      const auto line = current_.line;
      auto size = take_word("the size of an array", [](std::string_view) { return true; });
      if (failed()) return;
      if (const auto known = names_.find(size); known != names_.end() && !known->second.constant.empty()) {
        size = known->second.constant;  // as lcm-gen does, also for the fingerprint
      }
      if (is_name(size)) {
        made.variable = true;
        made.length = size;
        check_length(size, line);
      } else if (const auto number = lcm_integer(size); number && *number > 0 && *number <= 0x7fffffff) {
        made.size = static_cast<std::size_t>(*number);
      } else {
        fail_at(line, "the size of an array is a number from 1 to 2147483647 or a member");
      }
      require(']');
      to.dimensions.push_back(std::move(made));
      sizes.push_back(std::move(size));
      if (sizes.size() > max_schema_dimensions) fail_at(line, "more than 32 dimensions");
    }
    hash_.dimensions(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) hash_.dimension(to.dimensions[i].variable, sizes[i]);
  }

  // A length is an integer that the struct has before the array.
  void check_length(const std::string& name, std::size_t line) {
    const auto found = names_.find(name);
    if (found == names_.end() || !found->second.counts)
      fail_at(line, "`" + name + "` is no integer member before this array");
  }

  void constants(std::size_t index) {
    advance();
    const auto type = take_word("the type of a constant", is_full_name);
    do {
      if (failed()) return;
      schema_constant made;
      made.type = type;
      made.name = new_name();
      require('=');
      const auto line = current_.line;
      made.value = take_word("a number", [](std::string_view) { return true; });
      if (!failed() && !lcm_constant_fits(type, made.value)) {
        fail_at(line, "`" + made.value.substr(0, 64) + "` is no " + type + " constant");
      }
      if (!failed() && is_integer(type)) names_[made.name].constant = made.value;
      made_.definitions.structures[index].constants.push_back(std::move(made));
    } while (take(','));
    require(';');
  }

  void resolve() {
    for (const auto& each : references_) {
      const auto found = structures_of_.find(each.name);
      if (found == structures_of_.end()) {
        return fail_at(each.line, "struct " + each.name + " is not defined");
      }
      made_.definitions.structures[each.structure].fields[each.field].structure = found->second;
    }
  }

  void put_first(std::string_view root) {
    if (root.empty()) return;
    const auto found = structures_of_.find(std::string(root));
    if (found == structures_of_.end()) {
      why_ = "struct " + escaped(root) + " is not defined";
      return;
    }
    // The others keep their order.
    const auto old = found->second;
    auto& structures = made_.definitions.structures;
    const auto moved = [old](std::size_t index) { return index == old ? 0 : index < old ? index + 1 : index; };
    for (const auto& each : references_) {
      auto& to = structures[each.structure].fields[each.field].structure;
      to = moved(to);
    }
    const auto place = static_cast<std::ptrdiff_t>(old);
    std::rotate(structures.begin(), structures.begin() + place, structures.begin() + place + 1);
    auto& hashes = made_.base_hashes;
    std::rotate(hashes.begin(), hashes.begin() + place, hashes.begin() + place + 1);
  }

  lcm_tokens tokens_;
  lcm_token current_;
  std::vector<lcm_token> comments_;  // in front of the current token
  std::size_t last_line_ = 0;        // on which the token before it ended
  std::string package_;
  lcm_types made_;
  lcm_base_hash hash_;                      // of the struct being read
  std::map<std::string, size_name> names_;  // of its members and constants
  std::map<std::string, std::size_t> structures_of_;
  std::vector<reference> references_;
  std::size_t counted_ = 0;
  std::size_t comment_bytes_ = 0;
  std::string why_;
};

}  // namespace

expected<lcm_types> parse_lcm_schema(std::string_view text, std::string_view name) {
  if (const auto only = fingerprint_line(text)) {
    lcm_types made;
    made.fingerprint = *only;
    return made;
  }
  return lcm_parser(text).parse(name);
}

}  // namespace orc::detail
