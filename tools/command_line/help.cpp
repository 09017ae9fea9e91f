#include "tools/command_line/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>

#include "tools/command_line/nearest_name.h"
#include "tools/command_line/words.h"

namespace orc::cli {

namespace {

// CLI11 has "INT:1-100": the name of the type, then the description of each check. A name such as ADDRESS:PORT has a
// colon of its own, with a capital letter behind it.
std::size_t end_of_type(const std::string& described) {
  std::size_t colon = described.find(':');
  while (colon != std::string::npos && colon + 1 < described.size() &&
         std::isupper(static_cast<unsigned char>(described[colon + 1])) != 0)
    colon = described.find(':', colon + 1);
  return std::min(colon, described.size());
}

std::string checks_of(const CLI::Option& option) {
  const std::string described = option.get_type_name();
  return described.substr(std::min(end_of_type(described) + 1, described.size()));
}

// CLI11 writes a list as [a,b].
std::string default_text(std::string text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  return text;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* each : options) names.push_back(shown_name(*each));
  std::sort(names.begin(), names.end());
  return joined(names, ", ", " or ");
}

class readable_help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::vector<std::string> remarks;
    std::string text;
    if (option->get_type_size() != 0) {  // else it is a flag
      std::string name = value_name(*option);
      if (!option->nonpositional() && name == shown_name(*option)) name = takes_several(*option) ? "..." : "";
      const bool has_delimiter = option->get_delimiter() != '\0';
      if (takes_several(*option) && has_delimiter) name += std::string(1, option->get_delimiter()) + "...";
      if (!name.empty() && option->get_expected_min() == 0) name = "[" + name + "]";
      if (!name.empty()) text = " " + name;
      if (const std::string checks = checks_of(*option); !checks.empty()) remarks.push_back(checks);
      const std::string usual = default_text(option->get_default_str());
      if (!usual.empty()) remarks.push_back("default " + usual);
    }
    if (option->get_required()) remarks.emplace_back("required");
    if (!option->get_needs().empty()) remarks.push_back("with " + names_of(option->get_needs()));
    if (!option->get_excludes().empty()) remarks.push_back("not with " + names_of(option->get_excludes()));
    return remarks.empty() ? text : text + " (" + joined(remarks, ", ") + ")";
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? shown_name(*option) : CLI::Formatter::make_option_name(option, is_positional);
  }
};

template <class Number>
std::string bound_text(Number bound) {
  if constexpr (std::is_integral_v<Number>)
    return std::to_string(bound);
  else
    return number_text(bound);
}

template <class Number>
CLI::Validator range_check(Number least, Number most) {
  const std::string first = bound_text(least);
  const std::string last = bound_text(most);
  const auto check = [=](const std::string& text) {
    using CLI::detail::lexical_cast;
    Number number{};
    if (lexical_cast(text, number) && number >= least && number <= most) return std::string();
    return "'" + text + "' is not a " + (std::is_integral_v<Number> ? "whole " : "") + "number from " + first + " to " +
           last;
  };
  return CLI::Validator(check, first + "-" + last, "number");
}

}  // namespace

void use_readable_help(CLI::App& app) { app.formatter(std::make_shared<readable_help>()); }

std::string shown_name(const CLI::Option& option) {
  std::string name = option.get_name();
  if (option.nonpositional()) return name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string value_name(const CLI::Option& option) {
  const std::string described = option.get_type_name();
  std::string type = described.substr(0, end_of_type(described));
  if (type == "INT" || type == "UINT" || type == "FLOAT") return "N";  // CLI11's words for the types of C++
  return type;
}

bool takes_several(const CLI::Option& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

std::string number_text(double number) {
  if (number == std::trunc(number) && std::abs(number) < 1e15) return std::to_string(static_cast<std::int64_t>(number));
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr;
  return {text, end};
}

CLI::Validator between(int least, int most) { return range_check(least, most); }

CLI::Validator between(std::uint64_t least, std::uint64_t most) { return range_check(least, most); }

CLI::Validator between(double least, double most) { return range_check(least, most); }

CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return "'" + word + "' is not " + joined(words, ", ", " or ") + did_you_mean(word, words);
  };
  return option->type_name(joined(words, "|"))->check(CLI::Validator(check, "", "word"));
}

}  // namespace orc::cli
