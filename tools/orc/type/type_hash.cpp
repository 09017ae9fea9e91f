// orc type hash
#include <CLI/CLI.hpp>
#include <memory>

#include "orc/schema.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/topic_text.h"
#include "tools/orc/type/type.h"
#include "tools/orc/type/type_file.h"

namespace orc::cli {

namespace {

int run(const std::string& words) {
  console out;
  const auto type = type_from_file(words);
  if (!type) {
    out.note(type.error().message());
    return exit_code::usage;
  }
  std::string line = hash_text(hash_of(*type)) + "  " + escaped(type->name);
  if (const auto fingerprint = lcm_fingerprint(*type)) line += "  fingerprint " + hash_text(*fingerprint);
  out.line(line);
  return out.failed() ? exit_code::failed : exit_code::ok;
}

}  // namespace

void add_type_hash(CLI::App& type, int& exit_code) {
  auto words = std::make_shared<std::string>();
  CLI::App* command =
      type.add_subcommand("hash", "The hash of a type in a file, as topics have it; of LCM types also the fingerprint");
  command->add_option("file", *words, "A file of types (see orc topic pub --type)")
      ->type_name("FILE[:NAME]")
      ->required();
  command->callback([words, &exit_code] { exit_code = run(*words); });
}

}  // namespace orc::cli
