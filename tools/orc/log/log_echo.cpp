// orc log echo
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/command_line/help.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/log/log.h"
#include "tools/orc/log/recording_part.h"
#include "tools/orc/recording/recorded_types.h"
#include "tools/orc/sample/sample_printer.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

struct log_echo_options {
  std::string file;
  recording_part part;
  print_options print;
  std::string type;
  std::vector<std::string> lcm_types;
  std::uint64_t count = 0;  // 0: all
};

class log_echo_command {
 public:
  explicit log_echo_command(const log_echo_options& options) : options_(options) {}

  int run() {
    if (const result read = types_.read(options_.type, options_.lcm_types); !read) return fail(read, exit_code::usage);
    if (const result opened = merged_recording::open({options_.file}, source_); !opened)
      return fail(opened, exit_code::failed);
    note_torn_end(out_, *source_);
    const part_outcome chosen = choose_part(options_.part, *source_, span_);
    if (chosen.exit_code != exit_code::ok) return fail(chosen.why, chosen.exit_code);
    if (const result moved = source_->seek(span_.from_ns); !moved) return fail(moved, exit_code::failed);
    return show_all();
  }

 private:
  int show_all() {
    std::uint64_t shown = 0;
    int outcome = exit_code::ok;
    while (options_.count == 0 || shown < options_.count) {
      if (stop_.raised()) return options_.count == 0 ? exit_code::ok : exit_code::interrupted;
      merged_sample sample;
      const result read = source_->next(sample);
      if (read.code() == errc::nothing_new) break;
      if (!read) {
        outcome = fail(read, exit_code::failed);
        continue;
      }
      if (sample.what.received_ns > span_.to_ns) break;
      if (!show(sample))
        return printer_.wrong_field() ? exit_code::usage : out_.failed() ? exit_code::failed : exit_code::ok;
      ++shown;
    }
    return outcome;
  }

  bool show(const merged_sample& sample) {
    const recording::channel& channel = source_->channels()[sample.channel].what;
    const sample_labels labels = labels_of(channel.topic, sample.what, source_->first_ns());
    if (options_.print.shows_bytes()) return printer_.show(labels, sample.what.data, nullptr, {});
    const types::decoder* const type = types_.decoder_of(channel.type, sample.what.data);
    return printer_.show(labels, sample.what.data, type, types_.why());
  }

  int fail(const result& why, int code) {
    out_.note(escaped(why.error().message()));
    return code;
  }

  const log_echo_options& options_;
  console out_;
  const detail::stop_signal stop_;
  recorded_types types_;
  std::unique_ptr<merged_recording> source_;
  recording_span span_;
  sample_printer printer_{out_, options_.print};
};

}  // namespace

void add_log_echo(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<log_echo_options>();
  CLI::App* command = log.add_subcommand(
      "echo", "Shows the samples of a recording: the fields where the topic is typed, else one line each");
  add_recording_argument(*command, options->file);
  command->add_option("-n,--count", options->count, "End after N samples")
      ->type_name("N")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  add_recording_part(*command, options->part);
  add_print_options(*command, options->print);
  command
      ->add_option("--type", options->type,
                   "The type of the samples, from a file: .lcm, .fbs, .bfbs, .proto, .pb, .msg or .json (default: the "
                   "recorded one)")
      ->type_name("FILE:NAME");
  add_lcm_types(*command, options->lcm_types);
  command->add_flag("--json", options->print.json, "One JSON object per line, with the whole value or payload");
  exclude_json(*command);
  command->callback([options, &exit_code] {
    settle(options->print);
    exit_code = log_echo_command(*options).run();
  });
}

}  // namespace orc::cli
