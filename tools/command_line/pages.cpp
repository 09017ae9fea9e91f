#include "tools/command_line/pages.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "tools/command_line/completion.h"
#include "tools/command_line/description.h"
#include "tools/command_line/manual_page.h"

namespace orc::cli {

namespace {

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::cerr << path << ": " << std::strerror(errno) << '\n';
  return static_cast<bool>(file);
}

}  // namespace

std::optional<int> generate_pages(const CLI::App& app, int section, const char* see_also, int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--generate") return std::nullopt;
  const command_description program = describe(app);
  const std::string directory = std::string(argv[2]) + "/";
  const bool written = write(directory + program.name, bash_completion(program)) &&
                       write(directory + "_" + program.name, zsh_completion(program)) &&
                       write(directory + program.name + ".fish", fish_completion(program)) &&
                       write(directory + program.name + "." + std::to_string(section),
                             troff(program, {section, app.version(), see_also}));
  return written ? 0 : 1;
}

}  // namespace orc::cli
