// orc bridge: becomes a program of the Python package.
#include "bridge.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "argv_quoting.h"
#include "console.h"
#include "exit_code.h"
#include "text.h"

namespace orc::cli {

namespace {

// What python3 runs. It says which package is missing, and leaves the rest to the module.
constexpr const char* bootstrap = R"(
import importlib.util, runpy, sys
try:
    found = importlib.util.find_spec('orc.bridge.zenoh')
except ImportError:
    found = None
if found is None:
    print("orc bridge zenoh: " + sys.executable + " has no package orc with bridges: pip install "
          "'orc-middleware[zenoh]'; $ORC_PYTHON names another python3", file=sys.stderr)
    sys.exit(1)
sys.argv[0] = 'orc bridge zenoh'
runpy.run_module('orc.bridge.zenoh', run_name='__main__')
)";

// Returns only when it fails.
int become_zenoh_bridge(const std::vector<std::string>& words) {
  const char* const chosen = std::getenv("ORC_PYTHON");
  std::vector<std::string> arguments{chosen != nullptr && *chosen != '\0' ? chosen : "python3", "-c", bootstrap};
  for (const std::string& each : words) arguments.push_back(unquoted(each));
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  console out;
  out.note("cannot run " + escaped(arguments.front()) + ": " + std::strerror(errno));
  return exit_code::failed;
}

}  // namespace

void add_bridge(CLI::App& app, int& exit_code) {
  CLI::App* const bridge = app.add_subcommand("bridge", "Carry topics and services to other networks");
  bridge->require_subcommand(1);
  CLI::App* const zenoh = bridge->add_subcommand(
      "zenoh", "To Zenoh, beyond the local network: runs python3 -m orc.bridge.zenoh (ORC_PYTHON names the python3)");
  zenoh->prefix_command();
  zenoh->set_help_flag();  // the module has its own
  zenoh->callback([zenoh, &exit_code] { exit_code = become_zenoh_bridge(zenoh->remaining()); });
}

}  // namespace orc::cli
