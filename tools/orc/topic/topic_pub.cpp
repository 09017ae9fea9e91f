// orc topic pub
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "orc.h"
#include "orc/types/json.h"
#include "tools/command_line/help.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/full_names.h"
#include "tools/orc/sample/typed_words.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/absent_topic.h"
#include "tools/orc/topic/line_reader.h"
#include "tools/orc/topic/topic.h"
#include "tools/orc/type/topic_types.h"
#include "tools/orc/type/type_file.h"
#include "tools/support/json.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

using clock = detail::stop_signal::clock;

// Longest time from Ctrl-C to the end of the wait for a reader.
constexpr int reader_slice_ms = 20;

struct pub_options {
  common_options common;
  std::string topic;
  std::vector<std::string> data;
  std::string from_stdin;  // "", "lines" or "whole"
  double rate_hz = 0;      // 0: not paced
  std::uint64_t count = 0;
  bool hex = false;
  std::optional<number_layout> numbers;
  double wait_s = 1;
  bool wait_given = false;
  double linger_s = 0.2;
  std::string type;
  std::string like;
  std::string encoding;
  bool no_keep_last = false;
  std::string priority = "normal";
};

clock::duration seconds(double s) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(s));
}

class pub_command {
 public:
  explicit pub_command(const pub_options& options)
      : options_(options), lines_(STDIN_FILENO, stop_), participant_(participant(options)) {}

  int run() {
    topic_options declared;
    if (const int outcome = find_type(declared.type); outcome != exit_code::ok) return outcome;
    if (!options_.data.empty() && !(argument_ = encoded(typed_text(options_.data)))) return exit_code::usage;
    declared.keep_last = !options_.no_keep_last;
    for (const auto each : {priority::bulk, priority::control})
      if (to_string(each) == options_.priority) declared.priority = each;
    to_ = participant_.register_topic(options_.topic, declared);
    if (stop_.raised()) return exit_code::interrupted;
    if (!to_.result()) {
      out_.note("cannot publish '" + options_.topic + "': " + to_.error().message());
      return exit_code::failed;
    }
    const bool anyone = wait_for_reader();
    if (stop_.raised()) return is_endless() ? exit_code::ok : exit_code::interrupted;
    const int outcome = argument_ ? send_argument() : send_stdin();
    if (sent_ != 0) stop_.wait_until(clock::now() + seconds(options_.linger_s));
    report();
    if (out_.failed()) return exit_code::failed;
    return outcome == exit_code::ok && options_.wait_given && options_.wait_s > 0 && !anyone ? exit_code::timed_out
                                                                                             : outcome;
  }

 private:
  static participant_options participant(const pub_options& options) {
    participant_options own;
    own.broker = options.common.broker;
    own.name = "orc topic pub";
    own.name_space = wire::no_name_space;
    return own;
  }

  // A link comes up some milliseconds after both ends exist; a sample sent before would reach a reader only as the
  // last value, and not at all once we are gone.
  bool wait_for_reader() {
    const auto until = clock::now() + seconds(options_.wait_s);
    while (clock::now() < until && !to_.wait_readers(1, reader_slice_ms)) {
      if (stop_.raised()) return false;
    }
    if (to_.readers() != 0) return true;
    if (options_.wait_s > 0 && (options_.wait_given || !is_endless())) {
      const bool alone = participant_.broker_endpoint() == "none";
      out_.note("nobody listens to '" + options_.topic + "' (waited " + fixed(options_.wait_s, 1) + " s" +
                (alone ? "; LCM programs cannot be seen" : "") + "); sending all the same");
    }
    return false;
  }

  [[nodiscard]] bool is_endless() const { return options_.rate_hz > 0 && options_.count == 0; }

  // Waits for the turn of the next sample: `sent_` periods after the first, so that the rate does not drift.
  bool wait_turn() {
    if (options_.rate_hz <= 0) return !stop_.raised();
    if (sent_ == 0) first_ = clock::now();
    return !stop_.wait_until(first_ + seconds(static_cast<double>(sent_) / options_.rate_hz));
  }

  int send_argument() {
    const bool repeats = options_.rate_hz > 0;
    const std::uint64_t wanted = options_.count != 0 ? options_.count : repeats ? 0 : 1;
    do {
      if (!wait_turn()) return is_endless() ? exit_code::ok : exit_code::interrupted;
      if (!send(*argument_)) return exit_code::failed;
    } while (sent_ != wanted);
    return exit_code::ok;
  }

  int send_stdin() {
    const bool whole = options_.from_stdin == "whole";
    if (isatty(STDIN_FILENO) == 1) {
      out_.hint(whole ? "reading the sample from the terminal; Ctrl-D sends it"
                      : "reading from the terminal: each line is a sample, Ctrl-D ends");
    }
    while (const auto input = whole ? lines_.rest() : lines_.next()) {
      const auto payload = encoded(*input);
      if (!payload) return exit_code::usage;
      if (!wait_turn()) break;
      if (!send(*payload)) return exit_code::failed;
      if (whole || sent_ == options_.count) return exit_code::ok;
    }
    // Ctrl-C is an ordinary end for someone typing, and cuts a file short.
    return stop_.raised() && isatty(STDIN_FILENO) != 1 ? exit_code::interrupted : exit_code::ok;
  }

  // Also makes the encoder for the input, if that is JSON.
  int find_type(type_description& type) {
    if (!options_.like.empty()) {
      auto directory = broker_directory(options_.common.broker, stop_);
      if (const auto found = type_of_topic(directory, options_.like, type); !found) {
        out_.note(failure_text(options_.like, directory, found));
        return exit_code_of(found);
      }
    } else if (names_file(options_.type)) {
      auto read = type_from_file(options_.type);
      if (!read) {
        out_.note(read.error().message());
        return exit_code::usage;
      }
      type = *std::move(read);
    } else if (!options_.type.empty() && options_.encoding.empty()) {
      out_.note("no file '" + escaped(options_.type) + "': write --type FILE:NAME, or --type NAME --encoding NAME");
      return exit_code::usage;
    } else {
      type = {options_.type, {}, options_.encoding, {}};
      return exit_code::ok;
    }
    if (options_.hex || options_.numbers) return exit_code::ok;
    if (const auto made = types::decoder::make(type, type_); !made) {
      out_.note(escaped(made.error().message()));
      return exit_code::failed;
    }
    return exit_code::ok;
  }

  std::optional<std::string> encoded(const std::string& input) {
    if (options_.numbers) return as_numbers(input);
    if (type_) return from_json(input);
    return options_.hex ? typed_hex(out_, input) : input;
  }

  std::optional<std::string> from_json(const std::string& input) {
    std::vector<std::byte> sample;
    if (const auto made = types::from_json(*type_, input, sample); !made) {
      out_.note(escaped(made.error().message()));
      return std::nullopt;
    }
    return std::string(as_text(sample));
  }

  std::optional<std::string> as_numbers(const std::string& input) {
    auto packed = options_.numbers->sample(input);
    if (packed) return *std::move(packed);
    out_.note(packed.error().message());
    return std::nullopt;
  }

  bool send(const std::string& payload) {
    const result handed = to_.send(payload.data(), payload.size());
    if (!handed) {
      out_.note("cannot send: " + handed.error().message());
      return false;
    }
    ++sent_;
    bytes_ += payload.size();
    return true;
  }

  void report() {
    const std::uint64_t readers = to_.readers();
    if (options_.common.json) {
      out_.line(to_text({{"topic", options_.topic}, {"sent", sent_}, {"bytes", bytes_}, {"readers", readers}}));
    } else {
      out_.hint("sent " + counted(sent_, "sample") + ", " + std::to_string(bytes_) + " bytes; " +
                counted(readers, "reader"));
    }
  }

  const pub_options& options_;
  console out_;
  const detail::stop_signal stop_;
  line_reader lines_;
  broker participant_;
  std::unique_ptr<types::decoder> type_;  // of JSON input
  publisher to_;
  std::optional<std::string> argument_;  // the sample that the command line gives
  clock::time_point first_;
  std::uint64_t sent_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void add_topic_pub(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<pub_options>();
  CLI::App* command = topic.add_subcommand(
      "pub",
      "Publishes a topic. DATA (words joined by a space) is one sample, sent once or at --rate; without DATA each "
      "line of stdin is one. Before the first sample it waits for a reader (--wait). The topic is gone when the "
      "command ends: leave it running with -r for readers that come later.");
  add_topic_argument(*command, options->topic);
  auto* data = command->add_option("data", options->data, "The sample")->type_name("");
  command->add_option("-r,--rate", options->rate_hz, "Samples per second; repeats DATA until Ctrl-C or -n")
      ->type_name("HZ")
      ->check(between(1e-6, 1e6));
  command->add_option("-n,--count", options->count, "End after N samples; with DATA and no --rate: one a second")
      ->type_name("N")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  auto* hex = command->add_flag("--hex", options->hex,
                                "The input is hexadecimal digits, two for each byte; white space is ignored");
  add_as(
      *command, options->numbers,
      "The input is numbers, separated by blanks or commas: f8x7 sends seven doubles, u4,f4x3 an unsigned integer of "
      "4 bytes and three floats (see echo)")
      ->excludes(hex);
  one_of(command->add_option("--stdin", options->from_stdin,
                             "lines: each line of stdin is a sample (default without DATA); whole: all of it is one"),
         {"lines", "whole"})
      ->excludes(data);
  auto* wait =
      add_duration(*command, "--wait", options->wait_s,
                   "Wait up to this time for a reader before the first sample (default 1s). When given, the exit "
                   "code is 4 if no reader came in that time; the samples are sent all the same");
  add_duration(*command, "--linger", options->linger_s,
               "Stay this long after the last sample so that it arrives (default 0.2s)");
  auto* type = command
                   ->add_option("--type", options->type,
                                "The type, from a file (.lcm, .fbs, .bfbs, .proto, .pb, .msg or .json); the input is "
                                "JSON then, unless --hex or --as is given. With --encoding: a name only")
                   ->type_name("FILE:NAME");
  auto* like = command->add_option("--like", options->like, "The type of this topic; the input is JSON then")
                   ->type_name("TOPIC")
                   ->excludes(type)
                   ->transform(full_name(*command, "a topic name"));
  command->add_option("--encoding", options->encoding, "Encoding of a type that has no file: raw, json, ...")
      ->type_name("NAME")
      ->excludes(like);
  command->add_flag("--no-keep-last", options->no_keep_last,
                    "For commands: a sample reaches only the readers connected when it is sent");
  one_of(command->add_option("--priority", options->priority, "In the network (tcp, multicast)"),
         {"bulk", "normal", "control"})
      ->capture_default_str();
  add_common_options(*command, options->common, "At the end one JSON object: what was sent, to how many readers");
  command->callback([options, wait, &exit_code] {
    options->wait_given = wait->count() > 0;
    if (!options->data.empty() && options->count != 0 && options->rate_hz <= 0) options->rate_hz = 1;
    exit_code = pub_command(*options).run();
  });
}

}  // namespace orc::cli
