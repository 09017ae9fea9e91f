// orc topic hz
#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/command_line/help.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/common_options.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"
#include "tools/orc/topic/absent_topic.h"
#include "tools/orc/topic/topic.h"
#include "tools/orc/topic/topic_text.h"

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
  std::optional<participant_state> publisher = {};  // of a shared topic
};

std::optional<rate> difference(const publication_counters& before, const publication_counters& now) {
  if (now.sampled_ns <= before.sampled_ns || now.sent < before.sent || now.bytes < before.bytes) {
    return std::nullopt;
  }
  return rate{static_cast<double>(now.sampled_ns - before.sampled_ns) / 1e9,
              now.sent - before.sent,
              now.bytes - before.bytes,
              now,
              {}};
}

std::string text_line(const rate& r) {
  const auto samples = static_cast<double>(r.samples);
  const auto bytes = static_cast<double>(r.bytes);
  return (r.publisher ? "publisher=" + participant_text(*r.publisher) + " " : "") +
         "rate=" + fixed(samples / r.interval_s, 1) + "Hz bandwidth=" + fixed(bytes / r.interval_s, 0) +
         "B/s size=" + fixed(r.samples == 0 ? 0 : bytes / samples, 0) + "B readers=" + std::to_string(r.now.readers) +
         " sent=" + std::to_string(r.now.sent) + " dropped=" + std::to_string(r.now.dropped);
}

std::string json_line(const std::string& topic, const rate& r) {
  json_value line = {{"topic", topic},
                     {"rate_hz", static_cast<double>(r.samples) / r.interval_s},
                     {"bytes_per_s", static_cast<double>(r.bytes) / r.interval_s},
                     {"interval_s", r.interval_s},
                     {"samples", r.samples},
                     {"bytes", r.bytes},
                     {"sent", r.now.sent},
                     {"dropped", r.now.dropped},
                     {"readers", r.now.readers}};
  if (r.publisher) line["publisher"] = json_of(*r.publisher);
  return to_text(line);
}

class hz_command {
 public:
  explicit hz_command(const hz_options& options)
      : options_(options), directory_(broker_directory(options.common.broker, stop_)) {}

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
      } else if (const auto found = rates_of(state); !found.empty()) {
        if (!print(found, printed)) break;
        if (printed == options_.count) return exit_code::ok;
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
  // False: the output takes no more.
  bool print(const std::vector<rate>& rates, std::uint64_t& printed) {
    for (const rate& each : rates) {
      if (!out_.line(options_.common.json ? json_line(options_.topic, each) : text_line(each))) return false;
      if (++printed == options_.count) break;
    }
    return true;
  }

  // What happened to a topic that was there is said once; the watch goes on, since programs and brokers restart.
  void pause(const std::string& why) {
    if (!paused_) out_.note(why + "; waiting");
    paused_ = true;
  }

  // Of each publisher that has reported since the last call.
  std::vector<rate> rates_of(const topic_state& state) {
    if (!state.publication) {
      if (measured_) pause("no publisher of '" + options_.topic + "' now");
      return {};
    }
    measured_ = true;
    paused_ = false;
    std::vector<rate> found;
    std::map<std::string, publication_counters> now;
    const auto take = [&](const publication_state& each) {
      if (!each.counters) return;
      now.emplace(each.id, *each.counters);
      const auto before = last_.find(each.id);
      auto made = before != last_.end() ? difference(before->second, *each.counters) : std::nullopt;
      if (!made) return;
      if (state.shared) made->publisher = each.participant;
      found.push_back(*std::move(made));
    };
    take(*state.publication);
    for (const publication_state& each : state.others) take(each);
    last_ = std::move(now);
    return found;
  }

  const hz_options& options_;
  console out_;
  const detail::stop_signal stop_;
  directory directory_;
  std::map<std::string, publication_counters> last_;  // by the ids of the publications
  bool measured_ = false;                             // there was a publication
  bool paused_ = false;
};

}  // namespace

void add_topic_hz(CLI::App& topic, int& exit_code) {
  auto options = std::make_shared<hz_options>();
  CLI::App* command = topic.add_subcommand(
      "hz",
      "Rate and bandwidth of a topic once a second, for each publisher of a shared one, from the publisher's own "
      "counters, without subscribing");
  add_topic_argument(*command, options->topic);
  command->add_option("-n,--count", options->count, "End after N lines (default: Ctrl-C ends it, exit code 0)")
      ->type_name("N")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  add_common_options(*command, options->common, "One JSON object per line");
  command->callback([options, &exit_code] { exit_code = hz_command(*options).run(); });
}

}  // namespace orc::cli
