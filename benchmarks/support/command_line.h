// What every benchmark's command line has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "orc/options.h"
#include "tools/command_line/help.h"
#include "tools/command_line/usage.h"
#include "tools/support/cpu.h"
#include "tools/support/machine.h"
#include "tools/support/text.h"

namespace orc::bench {

using cli::between;
using cli::one_of;

// Adds an option for several transports; `help` names them.
inline CLI::Option* add_transports(CLI::App& app, std::vector<std::string>& names, const std::string& help) {
  return app.add_option("--transport", names, help)->type_name("NAME")->delimiter(',')->capture_default_str();
}

// Adds an option for several numbers such as 10, 100k or 1M: sizes, rates.
inline CLI::Option* add_sizes(CLI::App& app, const std::string& name, std::vector<std::string>& sizes,
                              const std::string& help) {
  return app.add_option(name, sizes, help)->type_name("SIZE")->delimiter(',')->capture_default_str();
}

// The same for one of them.
inline CLI::Option* add_size(CLI::App& app, const std::string& name, std::string& size, const std::string& help) {
  return app.add_option(name, size, help)->type_name("SIZE")->capture_default_str();
}

inline orc::transport transport_named(const std::string& name) {
  for (const auto t : {orc::transport::inproc, orc::transport::shm, orc::transport::ipc, orc::transport::tcp}) {
    if (to_string(t) == name) return t;
  }
  throw CLI::ValidationError("--transport", "'" + name + "' is none of inproc, shm, ipc and tcp");
}

inline std::vector<orc::transport> transports_named(const std::vector<std::string>& names) {
  std::vector<orc::transport> transports;
  for (const std::string& name : names) transports.push_back(transport_named(name));
  return transports;
}

inline std::vector<std::size_t> sizes_named(const std::vector<std::string>& texts) {
  std::vector<std::size_t> sizes;
  for (const std::string& text : texts) {
    const auto size = parse_size(text);
    if (!size) throw CLI::ValidationError("--size", "'" + text + "' is not a size such as 10, 100k or 1M");
    sizes.push_back(*size);
  }
  return sizes;
}

// Adds --cpu and --json.
struct common_options {
  std::string cpu;
  std::string json;
  cpu_pair cpus = default_cpus();

  void add_to(CLI::App& app) {
    app.add_option("--cpu", cpu, "Cores of the two ends, or none; default: the first two allowed ones")
        ->type_name("A,B")
        ->check([](const std::string& text) {
          return parse_cpus(text) ? std::string() : "'" + text + "' is not two cores, such as 0,1, or none";
        });
    app.add_option("--json", json, "Write JSON to FILE, - is stdout (tables then go to stderr)")->type_name("FILE|-");
  }
  // After parsing.
  void settle() {
    if (!cpu.empty()) cpus = *parse_cpus(cpu);
  }
  [[nodiscard]] std::FILE* tables() const { return json == "-" ? stderr : stdout; }
  void print_machine() const {
    std::fprintf(tables(), "# %s\n", machine_facts(cpus).c_str());
    std::fflush(tables());
  }
};

inline constexpr const char* exit_codes = "Exit codes: 0 done, 1 failed, 2 usage, 130 Ctrl-C.";

// Parses and runs `run`; a wrong command line is exit code 2.
template <class Run>
int main_of(CLI::App& app, int argc, char** argv, Run&& run) {
  cli::use_readable_help(app);
  app.footer(exit_codes);
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::ParseError& error) {
    return cli::report(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace orc::bench
