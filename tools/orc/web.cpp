// orc web: becomes the program orc-web, which lies beside this one.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/orc/argv_quoting.h"
#include "tools/orc/commands.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// Returns only when it fails.
int become_orc_web(const std::vector<std::string>& words) {
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", unknown);
  std::string program = unknown ? "orc-web" : (here.parent_path() / "orc-web").string();
  std::vector<std::string> arguments{program};
  for (const std::string& each : words) arguments.push_back(unquoted(each));
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  const int why = errno;
  console out;
  if (why == ENOENT)
    out.note("there is no orc-web beside this program: tools/dev build makes it (it needs Boost: tools/dev setup)");
  else
    out.note("cannot run " + escaped(program) + ": " + std::strerror(why));
  return exit_code::failed;
}

}  // namespace

void add_web(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("web", "Show the running system, or recordings, in the browser: runs orc-web");
  command->prefix_command();
  command->set_help_flag();  // orc-web has its own
  command->callback([command, &exit_code] { exit_code = become_orc_web(command->remaining()); });
}

}  // namespace orc::cli
