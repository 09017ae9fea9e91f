#include "tools/orc/log/recording_part.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "tools/orc/exit_code.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// Whether there are chunks, and not even a channel is known.
bool is_unreadable(merged_recording& from) {
  std::size_t chunks = 0;
  for (std::size_t i = 0; i < from.files(); ++i) chunks += from.reader(i).summary().chunks;
  return from.channels().empty() && chunks != 0;
}

}  // namespace

void add_recording_part(CLI::App& command, recording_part& part) {
  add_recording_time(
      command, "--start", part.start,
      "First moment: a time from the beginning (12.5, 10min), or a date and time such as 2026-11-24T10:15:00Z");
  add_recording_time(command, "--end", part.end, "Last moment");
  add_topic_filter(command, part.topics);
}

part_outcome choose_part(const recording_part& part, merged_recording& from, recording_span& span) {
  const auto& channels = from.channels();
  const bool any = std::any_of(channels.begin(), channels.end(),
                               [&](const merged_channel& each) { return part.topics.takes(each.what.topic); });
  if (!any && !part.topics.takes_all() && !is_unreadable(from))
    return {exit_code::no_topic, {errc::bad_argument, "the recording has no such topic (orc log info lists them)"}};
  const std::int64_t first = from.first_ns();
  const std::int64_t last = from.last_ns();
  if (part.start) span.from_ns = part.start->in(first);
  if (part.end) span.to_ns = part.end->in(first);
  if (span.to_ns < span.from_ns) return {exit_code::usage, {errc::bad_argument, "the end is before the start"}};
  if (from.samples() != 0 && (span.from_ns > last || span.to_ns < first)) {
    return {exit_code::usage,
            {errc::bad_argument, "the recording has nothing in that time: it begins at " + iso_text(first) +
                                     " and ends " + duration_text(last - first) + " later"}};
  }
  from.select(part.topics);
  return {};
}

result nothing_chosen() { return {errc::bad_argument, "wrote nothing: there is no sample"}; }

recording::losses left_out_of(merged_recording& from) {
  recording::losses all;
  for (std::size_t i = 0; i < from.files(); ++i) {
    const recording::losses& each = from.reader(i).summary().left_out;
    for (const std::string& sentence : each.sentences) all.add(sentence);
    all.count += each.count - each.sentences.size();
  }
  return all;
}

std::uint64_t missing_samples(const merged_recording& from, std::uint64_t taken) noexcept {
  return from.samples() > taken ? from.samples() - taken : 0;
}

std::string written_text(std::uint64_t samples, std::size_t topics, std::uint64_t bytes, const std::string& path) {
  return "wrote " + counted(samples, "sample") + " of " + counted(topics, "topic") + ", " +
         size_text(static_cast<double>(bytes)) + " to " + escaped(path);
}

void note_torn_end(console& out, merged_recording& from) {
  for (std::size_t i = 0; i < from.files(); ++i) {
    const recording::summary& about = from.reader(i).summary();
    if (about.readable_bytes < about.bytes)
      out.note(escaped(from.path(i)) + " ends within a record: takes the " + std::to_string(about.readable_bytes) +
               " of " + std::to_string(about.bytes) + " bytes that are whole");
  }
}

void note_escapes(console& out, merged_recording& from) {
  std::set<std::string> names;
  const auto take = [&](std::string_view name) {
    std::size_t at = 0;
    while (at < name.size()) {
      const std::size_t length = utf8_length(name.substr(at));
      if (length == 0) {
        names.emplace(name);
        return;
      }
      at += length;
    }
  };
  const auto take_all = [&](const std::map<std::string, std::string>& entries) {
    for (const auto& [key, value] : entries) {
      take(key);
      take(value);
    }
  };
  for (std::size_t i = 0; i < from.files(); ++i) {
    const recording::reader& reader = from.reader(i);
    for (const recording::channel& each : reader.channels()) {
      take(each.topic);
      take(each.type.name);
      take_all(each.metadata);
    }
    for (const recording::named_metadata& each : reader.metadata()) {
      take(each.name);
      take_all(each.entries);
    }
    for (const recording::attachment& each : reader.attachments()) take(each.name);
  }
  for (const std::string& each : names)
    out.note("'" + escaped(each) + "' is not UTF-8, as MCAP's texts are: bytes that are none are written as \\xNN");
}

void note_losses(console& out, const recording::losses& lost, std::uint64_t samples) {
  if (lost.count == 0) return;
  for (const std::string& each : lost.sentences) out.note(escaped(each));
  out.note("left out " + counted(lost.count, "record") + " that cannot be used" +
           (samples == 0 ? "" : ", with " + counted(samples, "sample")));
}

}  // namespace orc::cli
