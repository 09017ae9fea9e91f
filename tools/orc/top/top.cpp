// orc top: a running system on the screen.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "tools/command_line/help.h"
#include "tools/orc/commands.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/top/top_options.h"
#include "tools/orc/top/top_print.h"
#include "tools/orc/top/top_screen.h"

namespace orc::cli {

namespace {

[[nodiscard]] bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Whether there is a person before a terminal that can show a screen.
[[nodiscard]] bool has_screen() {
  const char* const kind = std::getenv("TERM");
  const bool able = kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
  return able && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0    done: q, Ctrl-C on the screen, or the table is printed\n"
    "  1    error: no broker for a table, ...\n"
    "  2    usage\n"
    "  130  Ctrl-C before the table was printed";

struct words {
  std::string view = "topics";
  std::string color = "auto";
};

void settle(top_options& options, const words& given) {
  if (given.view == "participants") options.view = top_view::participants;
  if (given.view == "hosts") options.view = top_view::hosts;
  options.colored = given.color == "always" || (given.color == "auto" && !is_set("NO_COLOR"));
}

}  // namespace

void add_top(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<top_options>();
  auto given = std::make_shared<words>();
  CLI::App* command = app.add_subcommand("top",
                                         "Topics, participants and hosts of the running system, with rates, on the "
                                         "whole screen; also services and parameters. Press ? for the keys, and q "
                                         "to quit. Into a pipe it prints one table");
  command->footer(exit_codes);
  command->add_flag("--once", options->once, "Print one table and end, also on a terminal");
  one_of(command->add_option("--view", given->view, "What to show first (default: topics)"),
         {"topics", "participants", "hosts"});
  command
      ->add_option("--filter", options->filter,
                   "Show only rows in which each of these words occurs: names, types, programs")
      ->type_name("WORDS");
  one_of(command->add_option("--color", given->color,
                             "Whether the screen has colors (default: auto, which is yes unless NO_COLOR is set)"),
         {"auto", "always", "never"});
  command->add_flag("-a,--all", options->all,
                    "Also topics of ORC itself, which carry calls and set parameters (on the screen: press a)");
  add_common_options(*command, options->common, "One JSON document with everything, then end");
  command->callback([options, given, &exit_code] {
    settle(*options, *given);
    const bool prints = options->once || options->common.json || !has_screen();
    exit_code = prints ? print_top(*options) : show_top(*options);
  });
}

}  // namespace orc::cli
