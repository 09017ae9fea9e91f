// orc topic echo
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <regex>

#include "orc.h"
#include "tools/command_line/help.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/sample/sample_printer.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/absent_topic.h"
#include "tools/orc/topic/topic.h"
#include "tools/orc/type/topic_types.h"
#include "tools/orc/type/type_file.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;
using clock = detail::stop_signal::clock;

// How long Ctrl-C or a reader of the pipe that left may go unnoticed while no sample comes.
constexpr int slice_ms = 100;

struct echo_options {
  common_options common;
  std::string topic;
  std::uint64_t count = 0;  // 0: until Ctrl-C
  bool once = false;
  double timeout_s = -1;  // negative: none
  print_options print;
  std::string type;
  std::vector<std::string> lcm_types;
  std::size_t queue = 0;  // 0: newest only
  int max_age_ms = 0;     // 0: any age
};

class echo_command {
 public:
  explicit echo_command(const echo_options& options)
      : options_(options),
        wanted_(options.once ? 1 : options.count),
        types_(broker_directory(options.common.broker, stop_), options.topic),
        participant_(participant(options)) {}

  int run() {
    if (const auto read = read_types(); !read) {
      out_.note(read.error().message());
      return exit_code::usage;
    }
    request_options request;
    if (options_.queue != 0) {
      request.conflate = 0;
      request.depth = options_.queue;
    }
    request.max_age = std::chrono::milliseconds(options_.max_age_ms);
    const subscriber requested = participant_.request_topic(options_.topic, request);
    if (stop_.raised()) return ended();
    if (!requested.result()) {
      out_.note("cannot listen to '" + options_.topic + "': " + requested.error().message());
      return exit_code::failed;
    }
    return listen(requested);
  }

 private:
  static participant_options participant(const echo_options& options) {
    participant_options own;
    own.broker = options.common.broker;
    own.name = "orc topic echo";
    own.name_space = wire::no_name_space;
    return own;
  }

  int listen(subscriber from) {
    auto quiet_since = clock::now();
    auto hint_at = quiet_since + 500ms;
    absence_due_ = quiet_since + 2s;
    while (!stop_.raised()) {
      const message sample = from.recv(next_wait_ms(quiet_since));
      if (sample) {
        if (!show(from, sample))
          return printer_.wrong_field() ? exit_code::usage : out_.failed() ? exit_code::failed : exit_code::ok;
        if (++shown_ == wanted_) return exit_code::ok;
        quiet_since = clock::now();
        continue;
      }
      if (sample.status() != errc::timed_out && sample.status() != errc::nothing_new) {
        out_.note(std::string(describe(sample.status())));
        return exit_code::failed;
      }
      if (out_.reader_gone()) return exit_code::ok;
      if (is_over(quiet_since)) return timed_out(from);
      if (shown_ == 0 && !from.connected() && clock::now() >= absence_due_) note_absence();
      if (console::is_watched() && shown_ == 0 && clock::now() >= hint_at && !from.connected()) {
        hint(from);
        hint_at = clock::now() + 2s;
      }
    }
    return ended();
  }

  [[nodiscard]] bool is_over(clock::time_point quiet_since) const {
    return options_.timeout_s >= 0 && clock::now() - quiet_since >= std::chrono::duration<double>(options_.timeout_s);
  }

  [[nodiscard]] int next_wait_ms(clock::time_point quiet_since) const {
    if (options_.timeout_s < 0) return slice_ms;
    const auto quiet = std::chrono::duration<double>(clock::now() - quiet_since).count();
    return static_cast<int>(std::clamp((options_.timeout_s - quiet) * 1e3 + 1, 0.0, double{slice_ms}));
  }

  result read_types() {
    if (!options_.type.empty()) {
      const auto type = type_from_file(options_.type);
      if (!type) return type.error();
      if (auto used = types_.use(*type); !used) return used;
    }
    if (options_.lcm_types.empty()) return {};
    const auto found = lcm_types_in(options_.lcm_types);
    return found ? types_.add_lcm(*found) : result(found.error());
  }

  bool show(const subscriber& from, const message& sample) {
    const sample_labels labels =
        labels_of(options_.topic, sample, sample.publisher() == 0 ? publisher_info() : from.publisher_of(sample));
    if (options_.print.shows_bytes()) return printer_.show(labels, sample.bytes(), nullptr, {});
    if (sample.publisher() == 0 && sample.sequence() <= last_sequence_) types_.look_again();  // the publisher restarted
    last_sequence_ = sample.sequence();
    const types::decoder* const type = types_.decoder_of(sample.bytes());
    return printer_.show(labels, sample.bytes(), type, types_.why());
  }

  [[nodiscard]] std::string no_link() const { return "no link to the publisher of '" + options_.topic + "'"; }

  // What a person at the terminal waits for, when that changes.
  void hint(const subscriber& from) {
    topic_state state;
    const auto asked = broker_directory(options_.common.broker, stop_).describe(options_.topic, state);
    std::string text = "waiting for a publisher of '" + options_.topic + "'";
    if (asked && state.publication) text = no_link() + " yet: " + escaped(from.link().reason);
    // Seconds that grow are no news.
    static const std::regex seconds("[0-9]+\\.[0-9] s");
    std::string news = std::regex_replace(text, seconds, "");
    if (news != hinted_) out_.hint(text);
    hinted_ = std::move(news);
  }

  // Once: the name may be mistyped, and nothing else would say so. Without an answer of the broker there is no news.
  void note_absence() {
    absence_due_ = clock::time_point::max();
    auto directory = broker_directory(options_.common.broker, stop_);
    topic_state state;
    const auto asked = directory.describe(options_.topic, state);
    if (asked && !state.publication) out_.note("waiting; " + absence_text(options_.topic, directory));
  }

  // Silence for --timeout. Says whether that is for want of a publisher, of a link, or of samples.
  int timed_out(const subscriber& from) {
    if (wanted_ == 0 && shown_ != 0) return exit_code::ok;
    const std::string waited = " within " + fixed(options_.timeout_s, 1) + " s";
    if (from.connected() || shown_ != 0) {
      out_.note("no sample of '" + options_.topic + "'" + waited);
      return exit_code::timed_out;
    }
    auto directory = broker_directory(options_.common.broker, stop_);
    topic_state state;
    const auto asked = directory.describe(options_.topic, state);
    if (asked && state.publication) {
      out_.note(no_link() + waited + ": " + escaped(from.link().reason));
      return exit_code::timed_out;
    }
    if (!asked && exit_code_of(asked) == exit_code::failed) {
      out_.note(text_of(asked));
      return exit_code::failed;
    }
    out_.note("waited " + fixed(options_.timeout_s, 1) + " s; " + absence_text(options_.topic, directory));
    return exit_code::no_topic;
  }

  [[nodiscard]] int ended() const { return wanted_ == 0 ? exit_code::ok : exit_code::interrupted; }

  const echo_options& options_;
  const std::uint64_t wanted_;
  std::uint64_t shown_ = 0;
  std::string hinted_;
  clock::time_point absence_due_;
  console out_;
  const detail::stop_signal stop_;
  topic_types types_;
  sample_printer printer_{out_, options_.print};
  std::uint64_t last_sequence_ = 0;
  broker participant_;
};

}  // namespace

void add_topic_echo(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<echo_options>();
  CLI::App* command = topic.add_subcommand(
      "echo",
      "Shows the samples of a topic: the fields if the topic is typed, else one line each. Waits for a publisher if "
      "there is none yet");
  add_topic_argument(*command, options->topic);
  auto* count =
      command->add_option("-n,--count", options->count, "End after N samples (default: Ctrl-C ends it, exit code 0)")
          ->type_name("N")
          ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  command->add_flag("--once", options->once, "End after one sample")->excludes(count);
  add_duration(*command, "--timeout", options->timeout_s,
               "End when no sample came for this time: exit code 4, or 3 without a publisher; 0 if samples came "
               "and no number of them was asked for");
  add_print_options(*command, options->print);
  command
      ->add_option("--type", options->type,
                   "The type of the samples, from a file: .lcm, .fbs, .bfbs, .proto, .pb, .msg or .json (default: the "
                   "one that the publisher declares)")
      ->type_name("FILE:NAME");
  command
      ->add_option("--lcm-types", options->lcm_types,
                   "Types of LCM channels: .lcm files or directories of them; a message is recognised by its "
                   "fingerprint")
      ->type_name("DIR|FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--queue", options->queue,
                   "Every sample in order, up to DEPTH waiting, instead of the newest one only")
      ->type_name("DEPTH")
      ->check(between(1, 65536));
  command
      ->add_option("--max-age", options->max_age_ms,
                   "Drop samples older than MS milliseconds; between hosts, this compares their clocks")
      ->type_name("MS")
      ->check(between(1, 1'000'000'000));
  add_common_options(*command, options->common, "One JSON object per line, with the whole value or payload");
  exclude_json(*command);
  command->callback([options, &exit_code] {
    settle(options->print);
    options->print.json = options->common.json;
    exit_code = echo_command(*options).run();
  });
}

}  // namespace orc::cli
