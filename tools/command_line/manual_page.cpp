#include "tools/command_line/manual_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace orc::cli {

namespace {

// Text that troff prints as it is.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n')) safe += "\\&";
    switch (c) {
      case '\\': safe += "\\e"; break;
      case '-': safe += "\\-"; break;
      case '\'': safe += "\\(aq"; break;
      case '`': safe += "\\(ga"; break;
      case '^': safe += "\\(ha"; break;
      case '~': safe += "\\(ti"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// A list entry: its tag, and below it the text.
std::string entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + (text.empty() ? "\\&" : escaped(text)) + "\n";
}

std::string option_entry(const option_description& option) {
  std::string tag;
  for (const auto& name : option.names) tag += (tag.empty() ? "" : ", ") + bold(name);
  // " N (1-100, default 5)": the value stands out.
  const auto end = option.remark.find(' ', 1);
  const std::string value = option.has_value ? option.remark.substr(0, end) : "";
  if (value.size() > 1) tag += " " + italic(value.substr(1));
  return entry(tag + escaped(option.remark.substr(value.size())), option.help);
}

std::string synopsis(const command_description& command) {
  std::string line = bold(command.path);
  if (!command.options.empty()) line += " [" + italic("OPTION") + "]...";
  for (const auto& argument : command.arguments) {
    const std::string name = italic(argument.value.name) + (argument.repeats ? "..." : "");
    line += argument.required ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  return line + "\n";
}

// Paragraphs, between empty lines; a line that begins with spaces is an entry of a list: "  2  usage".
std::string footer_text(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text = ".PP\n";
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      text += ".PP\n";
    } else if (line.starts_with("  ")) {
      const auto begin = line.find_first_not_of(' ');
      const auto end = std::min(line.find("  ", begin), line.size());
      const auto rest = line.find_first_not_of(' ', end);
      text += entry(bold(line.substr(begin, end - begin)), rest == std::string::npos ? "" : line.substr(rest));
    } else {
      text += escaped(line) + "\n";
    }
  }
  return text;
}

std::string options_and_arguments(const command_description& command) {
  std::string text;
  for (const auto& argument : command.arguments) text += entry(italic(argument.value.name), argument.help);
  for (const auto& option : command.options) text += option_entry(option);
  return text;
}

std::string section_of(const command_description& command) {
  return ".SS " + bold(command.path) + "\n" + synopsis(command) + ".PP\n" + escaped(command.help) + "\n" +
         options_and_arguments(command) + (command.footer.empty() ? "" : footer_text(command.footer));
}

}  // namespace

std::string troff(const command_description& program, const manual_page& page) {
  std::string text = ".\\\" Written by `" + program.name + " --generate`.\n.TH " + upper(escaped(program.name)) + " " +
                     std::to_string(page.section) + " \"\" \"" + escaped(page.version) + "\"\n";
  text += ".SH NAME\n" + escaped(program.name) + " \\- " + escaped(program.help) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(program);
  text += ".SH OPTIONS\n" + options_and_arguments(program);
  const auto commands = with_all_below(program);
  if (commands.size() > 1) {
    text += ".SH COMMANDS\n";
    for (const auto* command : commands)
      if (command->commands.empty()) text += section_of(*command);
  }
  text += ".SH NOTES\n" + footer_text(program.footer);
  return text + ".SH SEE ALSO\n" + escaped(page.see_also) + "\n";
}

}  // namespace orc::cli
