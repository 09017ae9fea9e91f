// orc log recover
#include "orc/recording/recover.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/process/stop_signal.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/log/log.h"
#include "tools/orc/log/new_recording.h"
#include "tools/orc/log/recording_part.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

struct recover_options {
  std::string file;
  new_recording_options output;
};

class recover_command {
 public:
  explicit recover_command(const recover_options& options) : options_(options) {}

  int run() {
    std::unique_ptr<merged_recording> from;
    if (const result opened = merged_recording::open({options_.file}, from); !opened) return fail(opened);
    const auto said = format_of(options_.output);
    if (said == log_format::csv) throw CLI::ValidationError("--output", "a table is no recording: orc log convert");
    const bool is_lcm = from->reader(0).summary().format == "lcm";
    const log_format format = said.value_or(is_lcm ? log_format::lcm : log_format::mcap);
    std::unique_ptr<new_recording> to;
    if (const result created = new_recording::create(options_.output, format, *from, nullptr, to); !created)
      return fail(created);
    note_torn_end(out_, *from);
    recording::recovered found;
    const result done = recording::recover(from->reader(0), to->writer(), found, [this] { return stop_.raised(); });
    if (!done) return fail(to->renamed(done));
    if (stop_.raised()) return exit_code::interrupted;
    note_losses(out_, found.left_out, found.missing_samples);
    if (format == log_format::mcap) note_escapes(out_, *from);
    const std::uint64_t bytes = to->bytes();
    if (const result finished = to->finish(); !finished) return fail(finished);
    out_.hint(written_text(found.samples, found.topics, bytes, options_.output.path));
    return out_.failed() ? exit_code::failed : exit_code::ok;
  }

 private:
  int fail(const result& why) {
    out_.note(escaped(why.error().message()));
    return exit_code::failed;
  }

  const recover_options& options_;
  console out_;
  const detail::stop_signal stop_;
};

}  // namespace

void add_log_recover(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<recover_options>();
  CLI::App* command = log.add_subcommand(
      "recover",
      "Copies what can be read of a damaged recording, such as one that a power loss has torn, and says what cannot");
  add_recording_argument(*command, options->file);
  add_new_recording(*command, options->output);
  command->callback([options, &exit_code] { exit_code = recover_command(*options).run(); });
}

}  // namespace orc::cli
