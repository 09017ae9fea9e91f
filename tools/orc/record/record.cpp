// orc record
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/command_line/help.h"
#include "tools/orc/commands.h"
#include "tools/orc/common_options.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/full_names.h"
#include "tools/orc/record/record_session.h"
#include "tools/orc/record/record_trigger.h"
#include "tools/orc/size_and_duration.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// Takes an option's word through one of the readers of record_options.h.
template <typename Value, typename Reader>
CLI::Option* add_read(CLI::App& command, const char* name, Value& value, Reader read, const char* help) {
  const auto take = [name, &value, read](const std::string& text) {
    auto parsed = read(text);
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message());
    value = static_cast<Value>(*parsed);
  };
  return command.add_option_function<std::string>(name, take, help);
}

detail::expected<std::chrono::nanoseconds> read_duration(const std::string& text) { return duration_of_text(text); }

struct words {
  record_options options;
  std::string format;
  std::string compression = "none";
  std::string trigger;
};

void add_file_options(CLI::App& command, words& to) {
  record_options& options = to.options;
  command
      .add_option("-o,--output", options.output,
                  "File to write (default: a name from the date and time; without an extension: FILE.mcap)")
      ->type_name("FILE");
  command.add_flag("--force", options.force, "Overwrite FILE if it exists");
  one_of(command.add_option("--format", to.format,
                            "Format of the file (default: lcm if FILE ends in .log or .lcm, else mcap). An LCM event "
                            "log has no types"),
         {"mcap", "lcm"});
  one_of(command.add_option("--compression", to.compression, "Compression of the file's chunks (default: none)"),
         {"none", "lz4", "zstd"});
  add_read(
      command, "--split", options.split, split_of_text,
      "Go on in a new file at this size or time: 1GB, 10min or 2GB,30min; a number alone is seconds. The files are "
      "FILE_0000.mcap, FILE_0001.mcap and so on; each starts with the last sample of every topic")
      ->type_name("SIZE|TIME");
  add_read(
      command, "--max-size", options.max_size, size_of_text,
      "With --split: delete the oldest file when all exceed this size. Without a size in --split, a file ends at half "
      "of it")
      ->type_name("SIZE")
      ->needs("--split");
  command.add_flag("--sync", options.sync, "Wait for the disk after each chunk: it then survives a power loss");
}

void add_black_box_options(CLI::App& command, words& to) {
  record_options& options = to.options;
  auto* last = add_read(command, "--last", options.last, read_duration,
                        "Black box: keep the last TIME in memory, at most --buffer, and write a file on SIGUSR1 or "
                        "--trigger; then go on")
                   ->type_name("TIME");
  last->excludes("--split");
  command.add_option("--name", options.name, "Name of this black box for --trigger (default: that of FILE)")
      ->type_name("NAME")
      ->needs(last);
  command
      .add_option("--trigger", to.trigger,
                  "Make this user's running black boxes, or those of that name or FILE, write their files; then end")
      ->type_name("NAME")
      ->expected(0, 1);
}

void add_lcm_options(CLI::App& command, words& to) {
  record_options& options = to.options;
  command
      .add_option("--multicast", options.url,
                  "Record the channels of this LCM network, without a broker: all, or those that TOPIC names. URL: "
                  "udpm://239.255.76.67:7667?ttl=0 (default: ORC_MULTICAST, else LCM_DEFAULT_URL, else that one). "
                  "Leaves out samples sent with forward error correction, which is not LCM's format")
      ->type_name("URL")
      ->expected(0, 1)
      ->excludes("--broker");
  command
      .add_option("--lcm-types", options.lcm_types,
                  "Types of LCM channels: .lcm files or directories of them; a message is recognised by its "
                  "fingerprint")
      ->type_name("DIR|FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->needs("--multicast");
}

bool ends_in(const std::string& text, std::string_view end) { return text.ends_with(end); }

void settle(words& given, const CLI::App& command) {
  record_options& options = given.options;
  options.multicast = command.count("--multicast") != 0;
  const bool is_log = ends_in(options.output, ".log") || ends_in(options.output, ".lcm");
  if (given.format == "lcm" || (given.format.empty() && is_log)) options.format = record_format::lcm;
  if (given.compression == "lz4") options.compression = recording::compression::lz4;
  if (given.compression == "zstd") options.compression = recording::compression::zstd;
}

}  // namespace

void add_record(CLI::App& app, int& exit_code) {
  auto given = std::make_shared<words>();
  record_options& options = given->options;
  CLI::App* command = app.add_subcommand("record",
                                         "Records topics to a file until Ctrl-C or SIGTERM: every sample in order, "
                                         "with its type. Topics that appear later are "
                                         "recorded too");
  command
      ->add_option(
          "topics", options.topics,
          "Topics to record (default: all). * stands for any characters but /, ** for any characters. Recorded calls "
          "of services (NAME/.calls) are topics, too; the topics that carry calls are left out unless a pattern "
          "has a part that begins with a dot")
      ->type_name("")
      ->transform(full_pattern(*command, "a topic name or pattern"));
  add_broker_option(*command, options.broker);
  add_file_options(*command, *given);
  add_read(*command, "--buffer", options.buffer, size_of_text,
           "Memory for samples that wait for the disk (default: 256MB). When it is full, the oldest are dropped, "
           "counted, and noted in the file")
      ->type_name("SIZE");
  command
      ->add_option("--depth", options.depth,
                   "Queue of each topic, in samples (default: by the size of its samples, 8 to 8192). Over shm it is "
                   "in the publisher's memory")
      ->type_name("N")
      ->check(between(1, 65536));
  add_read(*command, "--duration", options.duration, read_duration, "End after this time")->type_name("TIME");
  add_black_box_options(*command, *given);
  add_lcm_options(*command, *given);
  command->add_flag("-q,--quiet", options.quiet, "Only errors");
  command->callback([given, command, &exit_code] {
    if (command->count("--trigger") != 0) {
      exit_code = trigger_recorders(given->trigger);
      return;
    }
    settle(*given, *command);
    // Whole files are deleted: with less room the file that just ended would go.
    if (given->options.max_size != 0 && given->options.max_size / 2 < given->options.split.bytes)
      throw CLI::ValidationError("--max-size", "must be at least twice the size of --split");
    exit_code = record_session(given->options).run();
  });
}

}  // namespace orc::cli
