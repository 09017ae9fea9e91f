// orc log info
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "orc/recording/reader.h"
#include "tools/orc/console.h"
#include "tools/orc/exit_code.h"
#include "tools/orc/log/log.h"
#include "tools/orc/log/log_statistics.h"
#include "tools/orc/recording/recording_time.h"
#include "tools/orc/text.h"
#include "tools/support/json.h"

namespace orc::cli {

namespace {

struct info_options {
  std::string file;
  bool json = false;
};

class info_command {
 public:
  explicit info_command(const info_options& options) : options_(options) {}

  int run() {
    if (const result opened = recording::reader::open(options_.file, reader_); !opened) {
      out_.note(escaped(opened.error().message()));
      return exit_code::failed;
    }
    log_statistics topics(reader_->summary().format != "lcm");
    const int outcome = read_all(topics);
    if (stop_.raised()) return exit_code::interrupted;
    if (options_.json) {
      out_.line(to_text(as_json(topics)));
    } else {
      show(topics);
    }
    return out_.failed() ? exit_code::failed : outcome;
  }

 private:
  int read_all(log_statistics& topics) {
    const recording::losses& left_out = reader_->summary().left_out;
    for (const std::string& each : left_out.sentences) out_.note(escaped(each));
    int outcome = left_out.count == 0 ? exit_code::ok : exit_code::failed;
    topics.add_channels(reader_->channels());
    while (!stop_.raised()) {
      recording::sample sample;
      const result read = reader_->next(sample);
      if (read.code() == errc::nothing_new) break;
      if (!read) {
        out_.note(escaped(read.error().message()));
        outcome = exit_code::failed;
        continue;
      }
      topics.add_channels(reader_->channels());
      topics.add(sample);
    }
    topics.add_metadata(reader_->metadata());
    return outcome;
  }

  void show(const log_statistics& topics) {
    const recording::summary& about = reader_->summary();
    std::vector<std::vector<std::string>> head = {{"file", escaped(options_.file)}, {"format", format_text(about)}};
    head.push_back({"state", state_text(about)});
    head.push_back({"size", size_text(static_cast<double>(about.bytes)) + chunks_text(about)});
    if (about.samples != 0) {
      head.push_back({"time", iso_text(about.first_ns) + " to " + iso_text(about.last_ns) + " (" +
                                  duration_text(about.last_ns - about.first_ns) + ")"});
    }
    head.push_back({"samples", std::to_string(about.samples)});
    for (const recording::attachment& each : reader_->attachments())
      head.push_back({"attachment", escaped(each.name) + ", " + size_text(static_cast<double>(each.size))});
    std::string lines = table(head);
    if (!topics.topics().empty()) lines += "\n" + topics_text(topics);
    out_.write(lines);
  }

  static std::string format_text(const recording::summary& about) {
    std::string text = about.format;
    if (!about.library.empty()) text += ", by " + escaped(about.library);
    if (!about.profile.empty()) text += ", profile " + escaped(about.profile);
    return text;
  }

  static std::string state_text(const recording::summary& about) {
    if (about.readable_bytes < about.bytes) {
      return "torn: " + std::to_string(about.readable_bytes) + " of " + std::to_string(about.bytes) +
             " bytes are whole (orc log recover)";
    }
    if (about.format == "lcm") return "whole";
    return about.closed ? "closed" : "not closed: it has no index (orc log recover)";
  }

  static std::string chunks_text(const recording::summary& about) {
    if (about.chunks == 0) return "";
    std::string text = ", " + counted(about.chunks, "chunk");
    for (const auto& [name, count] : about.compressions)
      text += (name.empty() ? ", uncompressed " : ", " + escaped(name) + " ") + std::to_string(count);
    return text;
  }

  static std::string topics_text(const log_statistics& topics) {
    std::vector<std::vector<std::string>> rows = {{"TOPIC", "TYPE", "SAMPLES", "RATE", "GAP", "LOST", "DROPPED"}};
    const auto is_shared = [](const auto& each) { return !each.second.shared_by.empty(); };
    const bool any_shared = std::any_of(topics.topics().begin(), topics.topics().end(), is_shared);
    if (any_shared) rows.front().emplace_back("SHARED BY");
    for (const auto& [name, each] : topics.topics()) {
      const auto rate = each.rate_hz();
      rows.push_back({escaped(name), each.type.empty() ? "-" : escaped(each.type), std::to_string(each.samples),
                      rate ? fixed(*rate, 1) + "Hz" : "-", each.samples < 2 ? "-" : duration_text(each.largest_gap_ns),
                      std::to_string(each.lost), std::to_string(each.dropped)});
      if (any_shared) rows.back().push_back(each.shared_by.empty() ? "-" : std::to_string(each.shared_by.size()));
    }
    return table(rows);
  }

  [[nodiscard]] json_value as_json(const log_statistics& topics) const {
    const recording::summary& about = reader_->summary();
    json_value json = {{"file", options_.file},
                       {"format", about.format},
                       {"library", about.library},
                       {"profile", about.profile},
                       {"closed", about.closed},
                       {"bytes", about.bytes},
                       {"readable_bytes", about.readable_bytes},
                       {"chunks", about.chunks},
                       {"compressions", about.compressions},
                       {"samples", about.samples},
                       {"first_ns", about.first_ns},
                       {"last_ns", about.last_ns}};
    json_value& list = json["topics"] = json_value::array();
    for (const auto& [name, each] : topics.topics()) {
      const auto rate = each.rate_hz();
      list.push_back({{"topic", name},
                      {"type", each.type.empty() ? json_value() : json_value(each.type)},
                      {"channels", each.channels},
                      {"shared_by", each.shared_by.size()},
                      {"samples", each.samples},
                      {"bytes", each.bytes},
                      {"rate_hz", rate ? json_value(*rate) : json_value()},
                      {"largest_gap_ns", each.largest_gap_ns},
                      {"gap_at_ns", each.gap_at_ns},
                      {"lost", each.lost},
                      {"dropped", each.dropped}});
    }
    json_value& metadata = json["metadata"] = json_value::array();
    for (const auto& each : reader_->metadata()) metadata.push_back({{"name", each.name}, {"entries", each.entries}});
    json_value& attachments = json["attachments"] = json_value::array();
    for (const auto& each : reader_->attachments())
      attachments.push_back({{"name", each.name}, {"media_type", each.media_type}, {"size", each.size}});
    return json;
  }

  const info_options& options_;
  console out_;
  const detail::stop_signal stop_;
  std::unique_ptr<recording::reader> reader_;
};

}  // namespace

void add_log_info(CLI::App& log, int& exit_code) {
  auto options = std::make_shared<info_options>();
  CLI::App* command = log.add_subcommand(
      "info", "Shows what a recording holds: its topics with their types, rates, largest gaps and lost samples");
  add_recording_argument(*command, options->file);
  command->add_flag("--json", options->json, "One JSON object, with times in ns");
  command->callback([options, &exit_code] { exit_code = info_command(*options).run(); });
}

}  // namespace orc::cli
