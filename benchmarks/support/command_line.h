// What every benchmark's command line has in common. The parser takes seconds to compile: only the source file has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "orc/options.h"
#include "tools/support/cpu.h"
#include "tools/support/text.h"

namespace orc::bench {

// A wrong value: main_of says so and returns 2.
struct usage_error : std::runtime_error {
  usage_error(const std::string& option, const std::string& text) : std::runtime_error(option + ": " + text) {}
};

// What an option sets; a vector takes several values, with commas.
template <class... T>
using one_reference = std::variant<std::reference_wrapper<T>...>;
using option_target = one_reference<int, unsigned, std::uint64_t, double, std::string, std::vector<int>,
                                    std::vector<double>, std::vector<std::string>>;

class command_line {
 public:
  command_line(const std::string& description, const std::string& name);

  void add_flag(const std::string& name, bool& flag, const std::string& help);
  // Hidden without `help`. `type` stands for the value in --help. The functions below are about the option added last.
  command_line& add_option(const std::string& name, option_target target, const std::string& help = {},
                           const std::string& type = {});
  // --help does not show the default.
  command_line& without_default();
  void between(int least, int most);
  void between(double least, double most);
  void one_of(const std::vector<std::string>& words);

 private:
  friend struct common_options;
  friend int main_of(command_line&, int, char**, const std::function<int()>&, const std::string&);

  struct parser;
  std::shared_ptr<parser> parser_;
};

// Adds an option for several transports; `help` names them.
inline command_line& add_transports(command_line& app, std::vector<std::string>& names, const std::string& help) {
  return app.add_option("--transport", names, help, "NAME");
}

// Adds an option for one or several numbers such as 10, 100k or 1M: sizes, rates.
inline void add_size(command_line& app, const std::string& name, option_target size, const std::string& help) {
  app.add_option(name, size, help, "SIZE");
}

inline orc::transport transport_named(const std::string& name) {
  for (const auto t : {orc::transport::inproc, orc::transport::shm, orc::transport::ipc, orc::transport::tcp}) {
    if (to_string(t) == name) return t;
  }
  throw usage_error("--transport", "'" + name + "' is none of inproc, shm, ipc and tcp");
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
    if (!size) throw usage_error("--size", "'" + text + "' is not a size such as 10, 100k or 1M");
    sizes.push_back(*size);
  }
  return sizes;
}

// Adds --cpu and --json.
struct common_options {
  std::string cpu;
  std::string json;
  cpu_pair cpus = default_cpus();

  void add_to(command_line& app);
  // After parsing.
  void settle() {
    if (!cpu.empty()) cpus = *parse_cpus(cpu);
  }
  [[nodiscard]] std::FILE* tables() const { return json == "-" ? stderr : stdout; }
  void print_machine() const;
};

// Parses and runs `run`; a wrong command line is exit code 2.
int main_of(command_line& app, int argc, char** argv, const std::function<int()>& run,
            const std::string& footer = "Exit codes: 0 done, 1 failed, 2 usage, 130 Ctrl-C.");

}  // namespace orc::bench
