#include "benchmarks/support/command_line.h"

#include <CLI/CLI.hpp>
#include <exception>

#include "tools/command_line/help.h"
#include "tools/command_line/usage.h"
#include "tools/support/machine.h"

namespace orc::bench {

struct command_line::parser {
  parser(const std::string& description, const std::string& name) : app(description, name) {}

  CLI::App app;
  CLI::Option* last = nullptr;
};

command_line::command_line(const std::string& description, const std::string& name)
    : parser_(std::make_shared<parser>(description, name)) {}

void command_line::add_flag(const std::string& name, bool& flag, const std::string& help) {
  parser_->app.add_flag(name, flag, help);
}

command_line& command_line::add_option(const std::string& name, option_target target, const std::string& help,
                                       const std::string& type) {
  CLI::Option*& option = parser_->last;
  std::visit([&](auto variable) { option = parser_->app.add_option(name, variable.get(), help); }, target);
  option->capture_default_str();
  if (cli::takes_several(*option)) option->delimiter(',');
  if (help.empty()) option->group("");
  if (!type.empty()) option->type_name(type);
  return *this;
}

command_line& command_line::without_default() {
  parser_->last->default_str("");
  return *this;
}

void command_line::between(int least, int most) { parser_->last->check(cli::between(least, most)); }

void command_line::between(double least, double most) { parser_->last->check(cli::between(least, most)); }

void command_line::one_of(const std::vector<std::string>& words) { cli::one_of(parser_->last, words); }

void common_options::add_to(command_line& app) {
  app.add_option("--cpu", cpu, "Cores of the two ends, or none; default: the first two allowed ones", "A,B");
  app.parser_->last->check([](const std::string& text) {
    return parse_cpus(text) ? std::string() : "'" + text + "' is not two cores, such as 0,1, or none";
  });
  app.add_option("--json", json, "Write JSON to FILE, - is stdout (tables then go to stderr)", "FILE|-");
}

void common_options::print_machine() const {
  std::fprintf(tables(), "# %s\n", machine_facts(cpus).c_str());
  std::fflush(tables());
}

int main_of(command_line& command, int argc, char** argv, const std::function<int()>& run, const std::string& footer) {
  CLI::App& app = command.parser_->app;
  cli::use_readable_help(app);
  app.footer(footer);
  try {
    app.parse(argc, argv);
    return run();
  } catch (const CLI::ParseError& error) {
    return cli::report(app, error);
  } catch (const usage_error& error) {
    return cli::report(app, CLI::ValidationError(error.what()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 1;
  }
}

}  // namespace orc::bench
