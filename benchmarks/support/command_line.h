// What every benchmark's command line has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "orc/options.h"
#include "tools/support/cpu.h"
#include "tools/support/machine.h"
#include "tools/support/text.h"

namespace orc::bench {

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
    app.add_option("--cpu", cpu, "Cores of the two ends, as A,B, or none; default: the first two allowed ones")
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

// Parses and runs `run`; turns CLI11's exit codes into 2.
template <class Run>
int main_of(CLI::App& app, int argc, char** argv, Run&& run) {
  app.footer(exit_codes);
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace orc::bench
