// orc topic hz
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absent_topic.h"
#include "common_options.h"
#include "console.h"
#include "exit_code.h"
#include "look.h"
#include "text.h"
#include "tools/command_line/help.h"
#include "topic.h"
#include "topic_text.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

// Publishers send their counters once a second. Asking more often than that keeps an answer from being a second old.
constexpr auto query_period = 250ms;

struct hz_options {
  common_options common;
  std::string topic;
  std::uint64_t count = 0;  // 0: until Ctrl-C
};

// From two reports of one publication: exact, whatever the delay on the way, since the publisher's clock is in them.
struct rate {
  double interval_s;
  std::uint64_t samples;
  std::uint64_t bytes;
  publication_counters now;
};

std::optional<rate> difference(const publication_counters& before, const publication_counters& now) {
  if (now.sampled_ns <= before.sampled_ns || now.sent < before.sent || now.bytes < before.bytes) {
    return std::nullopt;
  }
  return rate{static_cast<double>(now.sampled_ns - before.sampled_ns) / 1e9, now.sent - before.sent,
              now.bytes - before.bytes, now};
}

std::string text_line(const rate& r) {
  const auto samples = static_cast<double>(r.samples);
  const auto bytes = static_cast<double>(r.bytes);
  return "rate=" + fixed(samples / r.interval_s, 1) + "Hz bandwidth=" + fixed(bytes / r.interval_s, 0) +
         "B/s size=" + fixed(r.samples == 0 ? 0 : bytes / samples, 0) + "B readers=" + std::to_string(r.now.readers) +
         " sent=" + std::to_string(r.now.sent) + " dropped=" + std::to_string(r.now.dropped);
}

std::string json_line(const std::string& topic, const rate& r) {
  return to_text({{"topic", topic},
                  {"rate_hz", static_cast<double>(r.samples) / r.interval_s},
                  {"bytes_per_s", static_cast<double>(r.bytes) / r.interval_s},
                  {"interval_s", r.interval_s},
                  {"samples", r.samples},
                  {"bytes", r.bytes},
                  {"sent", r.now.sent},
                  {"dropped", r.now.dropped},
                  {"readers", r.now.readers}});
}

class hz_command {
 public:
  explicit hz_command(const hz_options& options) : options_(options), directory_(look(options.common.broker, stop_)) {}

  int run() {
    std::uint64_t printed = 0;
    while (true) {
      topic_state state;
      const auto asked = directory_.describe(options_.topic, state);
      if (stop_.raised()) break;
      if (!asked) {
        if (!measured_) {
          out_.note(failure_text(options_.topic, directory_, asked));
          return exit_code_of(asked);
        }
        pause(text_of(asked));
      } else if (const auto found = rate_of(state)) {
        if (!out_.line(options_.common.json ? json_line(options_.topic, *found) : text_line(*found))) break;
        if (++printed == options_.count) return exit_code::ok;
      } else if (!measured_) {
        out_.note(absence_text(options_.topic, directory_));
        return exit_code::no_topic;
      }
      if (out_.reader_gone() || stop_.wait_until(detail::stop_signal::clock::now() + query_period)) break;
    }
    if (out_.failed()) return exit_code::failed;
    return stop_.raised() && options_.count != 0 ? exit_code::interrupted : exit_code::ok;
  }

 private:
  // What happened to a topic that was there is said once; the watch goes on, since programs and brokers restart.
  void pause(const std::string& why) {
    if (!paused_) out_.note(why + "; waiting");
    paused_ = true;
  }

  std::optional<rate> rate_of(const topic_state& state) {
    if (!state.publication) {
      if (measured_) pause("no publisher of '" + options_.topic + "' now");
      return std::nullopt;
    }
    measured_ = true;
    paused_ = false;
    const auto& counters = state.publication->counters;
    if (!counters) return std::nullopt;
    const bool same = std::exchange(publication_, state.publication->id) == state.publication->id;
    auto found = last_ && same ? difference(*last_, *counters) : std::nullopt;
    last_ = counters;
    return found;
  }

  const hz_options& options_;
  console out_;
  const detail::stop_signal stop_;
  directory directory_;
  std::string publication_;  // that last_ is of
  std::optional<publication_counters> last_;
  bool measured_ = false;  // there was a publication
  bool paused_ = false;
};

}  // namespace

void add_topic_hz(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<hz_options>();
  CLI::App* command = topic.add_subcommand(
      "hz", "Rate and bandwidth of a topic once a second, from the publisher's own counters, without subscribing");
  add_topic_argument(*command, options->topic);
  command->add_option("-n,--count", options->count, "End after N lines (default: Ctrl-C ends it, exit code 0)")
      ->type_name("N")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  add_common_options(*command, options->common, "One JSON object per line");
  command->callback([options, &exit_code] { exit_code = hz_command(*options).run(); });
}

}  // namespace orc::cli
