// orc param load
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/param/param.h"
#include "tools/orc/text.h"
#include "tools/parameter_files/parameter_files.h"

namespace orc::cli {

namespace {

constexpr std::size_t most_bytes = max_parameter_file + 1;  // load_parameters refuses what has as many

struct load_options {
  common_options common;
  std::string file;
  double timeout_s = 5;
};

// Nothing: it cannot be read; errno has the reason.
std::optional<std::string> content_of(const std::string& file) {
  std::FILE* const from = file == "-" ? stdin : std::fopen(file.c_str(), "re");
  if (from == nullptr) return std::nullopt;
  std::string content(most_bytes, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), from));
  const bool failed = std::ferror(from) != 0;
  const int why = errno;
  if (from != stdin) std::fclose(from);
  errno = why;
  if (failed) return std::nullopt;
  return content;
}

int run(const load_options& options) {
  console out;
  const auto toml = content_of(options.file);
  if (!toml) {
    out.note("cannot read " + escaped(options.file) + ": " + std::strerror(errno));
    return exit_code::failed;
  }
  param_access access(options.common.broker);
  std::vector<parameter_outcome> outcomes;
  if (const auto loaded =
          load_parameters(access.participant, access.directory, *toml, timeout_of(options.timeout_s), outcomes);
      !loaded) {
    const bool bad_file = loaded.code() == errc::bad_argument;
    out.note((bad_file ? escaped(options.file) + ": " : "") + text_of(loaded));
    return bad_file ? exit_code::failed : exit_code_of(loaded);
  }
  int code = exit_code::ok;
  json_value listed = json_value::array();
  for (const parameter_outcome& each : outcomes) {
    if (!each.outcome) code = exit_code::failed;
    if (options.common.json)
      listed.push_back(json_of(each));
    else if (each.outcome)
      out.line(each.name + " = " + value_text(each.value));
    else
      out.note(text_of(each.outcome));
  }
  if (options.common.json) out.line(to_text({{"parameters", std::move(listed)}}));
  return out.failed() ? exit_code::failed : code;
}

}  // namespace

void add_param_load(CLI::App& param, int& exit_code) {
  auto options = std::make_shared<load_options>();
  CLI::App* command = param.add_subcommand(
      "load",
      "Sets parameters from a TOML file, and prints each value that is in force then. One that fails does not keep the "
      "others from being set; the exit code is 1 then.");
  command->add_option("file", options->file, "File to read; - is stdin")->required()->type_name("");
  add_param_timeout(*command, options->timeout_s);
  add_common_options(*command, options->common, "One JSON document with each value or error");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace orc::cli
