// orc bridge: becomes a program of the Python package.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tools/orc/argv_quoting.h"
#include "tools/orc/commands.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// What python3 runs, with the bridge's name as the first argument. It says which package is missing, and leaves the
// rest to the module.
constexpr const char* bootstrap = R"(
import importlib.util, runpy, sys
name = sys.argv.pop(1)
module = 'orc.bridge.' + name
try:
    found = importlib.util.find_spec(module)
except ImportError:
    found = None
if found is None:
    print("orc bridge " + name + ": " + sys.executable + " has no package orc with this bridge: pip install "
          "'orc-middleware[" + name + "]'; $ORC_PYTHON names another python3", file=sys.stderr)
    sys.exit(1)
sys.argv[0] = 'orc bridge ' + name
runpy.run_module(module, run_name='__main__')
)";

// Returns only when it fails.
int become_bridge(const std::string& name, const std::vector<std::string>& words) {
  const char* const chosen = std::getenv("ORC_PYTHON");
  std::vector<std::string> arguments{chosen != nullptr && *chosen != '\0' ? chosen : "python3", "-c", bootstrap, name};
  for (const std::string& each : words) arguments.push_back(unquoted(each));
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  console out;
  out.note("cannot run " + escaped(arguments.front()) + ": " + std::strerror(errno));
  return exit_code::failed;
}

void add_bridge_to(CLI::App& bridge, const std::string& name, const std::string& where, int& exit_code) {
  CLI::App* const added =
      bridge.add_subcommand(name, where + ": runs python3 -m orc.bridge." + name + " (ORC_PYTHON names the python3)");
  added->prefix_command();
  added->set_help_flag();  // the module has its own
  added->callback([added, name, &exit_code] { exit_code = become_bridge(name, added->remaining()); });
}

}  // namespace

void add_bridge(CLI::App& app, int& exit_code) {
  CLI::App* const bridge = app.add_subcommand("bridge", "Carry topics and services to other networks");
  bridge->require_subcommand(1);
  add_bridge_to(*bridge, "zenoh", "To Zenoh, beyond the local network", exit_code);
  add_bridge_to(*bridge, "lcm", "To another multicast network of LCM and ORC programs", exit_code);
}

}  // namespace orc::cli
