// orc play
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command_line/help.h"
#include "tools/orc/commands.h"
#include "tools/orc/common_options.h"
#include "tools/orc/play/play_command.h"
#include "tools/orc/recording/recording_time.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

transport_set transports_in(const std::vector<std::string>& names) {
  transport_set all;
  for (const std::string& name : names) {
    bool known = false;
    for (const auto each : {transport::inproc, transport::ipc, transport::tcp, transport::shm, transport::multicast}) {
      if (to_string(each) != name) continue;
      all.insert(each);
      known = true;
    }
    if (!known) {
      throw CLI::ValidationError("--transports", "no transport is called '" + escaped(name) +
                                                     "'; there are inproc, shm, ipc, tcp and multicast");
    }
  }
  return all;
}

// FROM:TO. The last colon counts: channels of LCM may have some, topics have none.
std::pair<std::string, std::string> renaming_in(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw CLI::ValidationError("--remap", "'" + escaped(text) + "' is not FROM:TO, such as arm/state:arm/recorded");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// "A..B", each of which may be missing. False: `text` is no range of times.
bool take_loop(const std::string& text, play_options& options) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return false;
  std::optional<recording_time> ends[2];
  const std::string words[2] = {text.substr(0, dots), text.substr(dots + 2)};
  for (std::size_t i = 0; i < 2; ++i) {
    if (words[i].empty()) continue;
    const auto parsed = recording_time::parse(words[i]);
    if (!parsed) return false;
    ends[i] = *parsed;
  }
  if (ends[0]) options.start = ends[0];
  if (ends[1]) options.end = ends[1];
  return true;
}

// The words of the command line that are not of their final kind.
struct play_words {
  play_options options;
  std::vector<std::string> transports;
  std::vector<std::string> remap;
  std::string loop;
};

void add_timing(CLI::App& command, play_words& words) {
  play_options& options = words.options;
  command.add_option("--rate", options.rate, "Recorded seconds per second")
      ->type_name("FACTOR")
      ->check(between(0.1, 100.0))
      ->capture_default_str();
  add_recording_time(
      command, "--start", options.start,
      "Begin there: a time from the beginning (12.5, 10min), or a date and time such as 2026-11-24T10:15:00Z");
  add_recording_time(command, "--end", options.end, "End there");
  command.add_flag("--paused", options.paused, "Begin paused, with the topics registered; Space starts");
  command.add_flag("--wait-for-subscribers", options.wait_for_subscribers,
                   "Begin when each topic has a subscriber; programs on LCM channels do not count");
  add_duration(command, "--linger", options.linger_s,
               "Stay this long after the last sample so that it arrives (default 0.2s)");
}

void add_topics(CLI::App& command, play_words& words) {
  play_options& options = words.options;
  add_topic_filter(command, options.output.topics);
  command.add_option("--remap", words.remap, "Publish the recorded topic FROM as TO: --remap FROM:TO; may be repeated")
      ->type_name("PAIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--prefix", options.output.prefix, "Put TEXT before each name, such as robot2/")
      ->type_name("TEXT");
  auto* const keep_stamps =
      command.add_flag("--keep-stamps", options.output.keep_stamps,
                       "Publish with the recorded stamps instead of the time of the playback: subscribers that set "
                       "max_age drop such samples");
  auto* transports = command
                         .add_option("--transports", words.transports,
                                     "Transports to publish over: inproc, shm, ipc, tcp, multicast (default: "
                                     "ORC_TRANSPORTS, else ipc and tcp)")
                         ->type_name("NAME")
                         ->delimiter(',')
                         ->expected(1)
                         ->allow_extra_args(false)
                         ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* multicast = command
                        .add_option("--multicast", options.output.multicast,
                                    "Publish to LCM programs on this network instead, without a broker: "
                                    "udpm://239.255.76.67:7667?ttl=0")
                        ->type_name("URL")
                        ->excludes(transports)
                        ->excludes(keep_stamps);
  command
      .add_option(
          "--clock", options.clock,
          "Publish the time that plays on TOPIC, 100 times a second and when it jumps: orc.Clock, with time_ns, "
          "rate and paused")
      ->type_name("TOPIC")
      ->excludes(multicast);
}

// CLI11 takes the word behind --loop for its value, also when it is the first file.
void sort_out_loop(play_words& words, bool given) {
  words.options.loop = given;
  if (given && !words.loop.empty() && !take_loop(words.loop, words.options))
    words.options.files.insert(words.options.files.begin(), words.loop);
  if (words.options.files.empty()) throw CLI::RequiredError("FILE");
}

}  // namespace

void add_play(CLI::App& app, int& exit_code) {
  const auto words = std::make_shared<play_words>();
  CLI::App* command = app.add_subcommand(
      "play",
      "Publishes a recording with its original timing and types: MCAP files and LCM logs, several merged by time. "
      "On a terminal: Space pauses, . steps, arrows jump 1 s, with Shift 10 s, + and - change the rate, q quits.");
  command->add_option("files", words->options.files, "Recordings; splits of one run and other robots' are merged")
      ->type_name("FILE");
  add_timing(*command, *words);
  auto* loop =
      command
          ->add_option("--loop", words->loop, "Begin again at the end; with A..B that part only, as --start and --end")
          ->type_name("A..B")
          ->expected(0, 1);
  add_topics(*command, *words);
  add_broker_option(*command, words->options.output.broker);
  command->add_flag("--json", words->options.json, "At the end one JSON object: what was played");
  command->callback([words, loop, &exit_code] {
    sort_out_loop(*words, loop->count() > 0);
    words->options.output.transports = transports_in(words->transports);
    for (const std::string& each : words->remap) words->options.output.remap.push_back(renaming_in(each));
    exit_code = play_command(words->options).run();
  });
}

}  // namespace orc::cli
