#include "tools/parameter_files/parameter_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/text/printable.h"
#include "base/text/utf8_value.h"

namespace orc::cli {

namespace {

constexpr const char* not_a_value = ": a parameter is true or false, a number, a text or a list of numbers";
constexpr std::size_t max_name = 255;
constexpr std::size_t max_key_parts = max_name;

using parts = std::vector<std::string>;

[[nodiscard]] std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// A name has only characters that need no escape.
[[nodiscard]] std::string key_of(std::string_view part) {
  const bool bare = !part.empty() && part.find_first_of("./") == std::string_view::npos;
  return bare ? std::string(part) : quoted(part);
}

[[nodiscard]] std::string heading_of(const parts& table) {
  std::string text = "[";
  for (std::size_t n = 0; n < table.size(); ++n) text += (n == 0 ? "" : ".") + key_of(table[n]);
  return text + "]";
}

// JSON is TOML, but for characters that JSON leaves as they are, and that act on the terminal of who reads the file.
[[nodiscard]] std::string text_of(const parameter_value& value) {
  const std::string json = to_json(value);
  std::string text;
  for (std::string_view rest = json; !rest.empty();) {
    const auto each = rest.substr(0, std::max<std::size_t>(detail::utf8_length(rest), 1));
    if (detail::is_printable(each)) {
      text += each;
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X",
                    static_cast<unsigned>(detail::utf8_value(each, each.size())) & 0xFFFFU);
      text += escape.data();
    }
    rest.remove_prefix(each.size());
  }
  return text;
}

// The table of a name, and its key there.
[[nodiscard]] std::pair<parts, std::string> place_of(const std::string& name,
                                                     const std::map<std::string, parameter_value>& values) {
  parts table;
  std::size_t from = 0;
  for (;;) {
    const std::size_t to = name.find('/', from);
    if (to == std::string::npos || values.contains(name.substr(0, to))) return {table, key_of(name.substr(from))};
    table.push_back(name.substr(from, to - from));
    from = to + 1;
  }
}

// ---- reading ----

// toml++ ends the process on a key with 100,000 parts. Returns whether a key has too many, without reading what stands
// in quotes and comments.
class key_depth {
 public:
  [[nodiscard]] bool is_exceeded_in(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const char each = text[at];
      if (each == '"' || each == '\'') {
        at = after_string(text, at);
      } else if (each == '#') {
        at = std::min(text.find('\n', at), text.size());
      } else {
        if (each == '.' && ++dots_ >= max_key_parts) return true;
        if (std::string_view("\n=,[]{}").find(each) != std::string_view::npos) dots_ = 0;
        ++at;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] static std::size_t after_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string three(3, quote);
    const bool is_long = text.substr(at, 3) == three;
    for (at += is_long ? 3 : 1; at < text.size(); ++at) {
      if (text[at] == '\\' && quote == '"') {
        ++at;
      } else if (is_long ? text.substr(at, 3) == three : text[at] == quote || text[at] == '\n') {
        at += is_long ? 3 : 1;
        // A long string may end with two quotes of its own.
        for (int more = 0; is_long && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
        return at;
      }
    }
    return text.size();
  }

  std::size_t dots_ = 0;
};

[[nodiscard]] std::optional<double> number_of(const toml::node& node) {
  std::optional<double> number;
  if (const auto* const whole = node.as_integer()) number = static_cast<double>(whole->get());
  if (const auto* const real = node.as_floating_point()) number = real->get();
  return number && std::isfinite(*number) ? number : std::nullopt;
}

[[nodiscard]] std::optional<parameter_value> list_of(const toml::array& from) {
  std::vector<double> numbers;
  for (const toml::node& each : from) {
    const auto number = number_of(each);
    if (!number || numbers.size() == max_parameter_length) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

[[nodiscard]] std::optional<parameter_value> value_of(const toml::node& node) {
  if (const auto* const truth = node.as_boolean()) return truth->get();
  if (const auto* const whole = node.as_integer()) return std::int64_t{whole->get()};
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const list = node.as_array()) return list_of(*list);
  return number_of(node);
}

class toml_reader {
 public:
  explicit toml_reader(std::map<std::string, std::optional<parameter_value>>& values) : values_(values) {}

  [[nodiscard]] result read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      std::string name = prefix + std::string(key.str());
      if (name.size() > max_name)
        return {errc::bad_argument,
                "a name has more than " + std::to_string(max_name) + " bytes: " + name.substr(0, 60) + "..."};
      if (const toml::table* const inner = node.as_table()) {
        if (result ok = read(*inner, name + "/"); !ok) return ok;
      } else if (!values_.emplace(name, value_of(node)).second) {
        return {errc::bad_argument, name + " stands there twice"};
      }
    }
    return {};
  }

 private:
  std::map<std::string, std::optional<parameter_value>>& values_;
};

}  // namespace

std::string to_toml(const std::map<std::string, parameter_value>& values) {
  std::map<parts, std::string> lines;
  for (const auto& [name, value] : values) {
    const auto [table, key] = place_of(name, values);
    lines[table] += key + " = " + text_of(value) + "\n";
  }
  std::string text;
  for (const auto& [table, inside] : lines) {
    if (!table.empty()) text += (text.empty() ? "" : "\n") + heading_of(table) + "\n";
    text += inside;
  }
  return text;
}

result from_toml(std::string_view text, std::map<std::string, std::optional<parameter_value>>& values) try {
  if (text.size() > max_parameter_file)
    return {errc::bad_argument, "the text has " + std::to_string(text.size()) + " bytes; " +
                                    std::to_string(max_parameter_file) + " are allowed"};
  if (key_depth().is_exceeded_in(text)) return {errc::bad_argument, "a key has too many parts"};
  std::map<std::string, std::optional<parameter_value>> read;
  if (result ok = toml_reader(read).read(toml::parse(text), {}); !ok) return ok;
  values = std::move(read);
  return {};
} catch (const toml::parse_error& problem) {
  return {errc::bad_argument,
          "line " + std::to_string(problem.source().begin.line) + " is no TOML: " + std::string(problem.description())};
}

result save_parameters(participant& by, directory& in, std::string_view pattern, std::chrono::nanoseconds timeout,
                       std::string& toml, std::vector<parameter_outcome>& outcomes) {
  std::vector<parameter_description> parameters;
  if (result listed = list_parameters(in, pattern, parameters); !listed) return listed;
  std::erase_if(parameters, [](const parameter_description& each) { return each.read_only; });
  if (result asked = get_parameters(by, in, parameters, timeout, outcomes); !asked) return asked;
  std::map<std::string, parameter_value> values;
  for (const parameter_outcome& each : outcomes) {
    if (each.outcome) values.emplace(each.name, each.value);
  }
  toml = to_toml(values);
  return {};
}

result load_parameters(participant& by, directory& in, std::string_view toml, std::chrono::nanoseconds timeout,
                       std::vector<parameter_outcome>& outcomes) {
  std::map<std::string, std::optional<parameter_value>> read;
  if (result ok = from_toml(toml, read); !ok) return ok;
  std::map<std::string, parameter_value> values;
  for (auto& [name, value] : read) {
    if (value) values.emplace(name, std::move(*value));
  }
  if (result set = set_parameters(by, in, values, timeout, outcomes); !set) return set;
  if (values.size() == read.size()) return {};
  std::vector<parameter_description> known;
  if (result listed = list_parameters(in, "**", known); !listed) return listed;
  std::set<std::string_view> names;
  for (const parameter_description& each : known) names.insert(each.name);
  for (const auto& [name, value] : read) {
    if (value) continue;
    outcomes.push_back({name,
                        names.contains(name) ? result(errc::bad_argument, name + not_a_value)
                                             : result(errc::unknown_topic, "no program has the parameter " + name),
                        {}});
  }
  std::ranges::sort(outcomes, {}, &parameter_outcome::name);
  return {};
}

}  // namespace orc::cli
