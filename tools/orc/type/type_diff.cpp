// orc type diff
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "orc/schema.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/type/type.h"

namespace orc::cli {

namespace {

struct diff_options {
  std::string broker;
  std::string published;
  std::string expected;
};

int run(const diff_options& options) {
  console out;
  const detail::stop_signal stop;
  auto directory = broker_directory(options.broker, stop);
  type_description published;
  type_description expected;
  for (const auto& [words, type] : {std::pair(&options.published, &published), {&options.expected, &expected}})
    if (const int found = find_named_type(out, directory, *words, *type); found != exit_code::ok) return found;
  const auto checked = check_types(published, expected, options.published);
  if (checked) {
    out.hint(hash_of(published) == hash_of(expected) ? "the types are equal"
                                                     : "a subscriber that expects the second reads the first");
    return exit_code::ok;
  }
  if (checked.code() != errc::type_mismatch) {
    out.note(escaped(checked.error().message()));
    return exit_code::usage;
  }
  out.line(escaped(checked.error().message()));
  return exit_code::failed;
}

}  // namespace

void add_type_diff(CLI::App& type, int& exit_code) {
  auto options = std::make_shared<diff_options>();
  CLI::App* command = type.add_subcommand(
      "diff",
      "Whether a subscriber that expects the type EXPECTED can read the samples of PUBLISHED, and if not, the first "
      "difference. Exit code 0: it can; 1: it cannot; 2: a type cannot be read");
  add_named_type(*command, "published", options->published, "A topic that is published, or a file of types");
  add_named_type(*command, "expected", options->expected, "The same; `here` in the answer");
  add_broker_option(*command, options->broker);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
