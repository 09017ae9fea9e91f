#include "tools/command_line/help.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <set>
#include <string_view>

#include "tools/command_line/nearest_name.h"

namespace orc::cli {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator, std::string_view last) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += &word == &words.back() ? last : separator;
    text += word;
  }
  return text;
}

// CLI11's words for the types of C++.
std::string type_text(const std::string& type) {
  if (type == "INT" || type == "UINT" || type == "FLOAT") return "N";
  return type;
}

// CLI11 writes a list as [a,b].
std::string default_text(std::string text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  return text;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* each : options) names.push_back(each->get_name());
  std::sort(names.begin(), names.end());
  return joined(names, ", ", " or ");
}

class readable_help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::vector<std::string> remarks;
    std::string text;
    if (option->get_type_size() != 0) {  // else it is a flag
      // "N:1-100": the name of the type, then the description of each check.
      const std::string described = option->get_type_name();
      const auto colon = described.find(':');
      std::string type = type_text(described.substr(0, colon));
      const bool is_list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
      if (is_list && option->get_delimiter() != '\0') type += std::string(1, option->get_delimiter()) + "...";
      if (is_list && option->get_delimiter() == '\0' && option->get_positional()) type += "...";
      if (!type.empty()) text = " " + type;
      if (colon != std::string::npos) remarks.push_back(described.substr(colon + 1));
      const std::string usual = default_text(option->get_default_str());
      if (!usual.empty()) remarks.push_back("default " + usual);
    }
    if (option->get_required()) remarks.emplace_back("required");
    if (!option->get_needs().empty()) remarks.push_back("with " + names_of(option->get_needs()));
    if (!option->get_excludes().empty()) remarks.push_back("not with " + names_of(option->get_excludes()));
    return remarks.empty() ? text : text + " (" + joined(remarks, ", ", ", ") + ")";
  }
};

}  // namespace

void use_readable_help(CLI::App& app) { app.formatter(std::make_shared<readable_help>()); }

std::string number_text(double number) {
  if (number == std::trunc(number) && std::abs(number) < 1e15) return number_text(static_cast<std::int64_t>(number));
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr;
  return {text, end};
}

std::string number_text(std::int64_t number) { return std::to_string(number); }

std::string number_text(std::uint64_t number) { return std::to_string(number); }

CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return "'" + word + "' is not " + joined(words, ", ", " or ") + did_you_mean(word, words);
  };
  return option->type_name(joined(words, "|", "|"))->check(CLI::Validator(check, "", "word"));
}

}  // namespace orc::cli
