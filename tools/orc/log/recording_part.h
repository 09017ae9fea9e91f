// The part of recordings that a command takes, and what to say about what it could not take.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tools/command_line/cli_fwd.h"
#include "tools/orc/console.h"
#include "tools/orc/recording/merged_recording.h"
#include "tools/orc/recording/recording_time.h"

namespace orc::cli {

struct recording_part {
  topic_filter topics;
  std::optional<recording_time> start;
  std::optional<recording_time> end;

  [[nodiscard]] bool is_all() const noexcept { return topics.takes_all() && !start && !end; }
};

// Adds --start, --end, --topics and --exclude.
void add_recording_part(CLI::App& command, recording_part& part);

// First and last received_ns.
struct recording_span {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
};

struct part_outcome {
  int exit_code = 0;
  result why = {};
};

// Selects the topics, and finds the span. Fails when the recordings have no such topic (exit_code::no_topic), or
// nothing in that time (exit_code::usage).
[[nodiscard]] part_outcome choose_part(const recording_part& part, merged_recording& from, recording_span& span);
// That a part which exists has no sample.
[[nodiscard]] result nothing_chosen();

// What open() left out of all files.
[[nodiscard]] recording::losses left_out_of(merged_recording& from);
// How many samples the files count beyond those that were taken.
[[nodiscard]] std::uint64_t missing_samples(const merged_recording& from, std::uint64_t taken) noexcept;

// "wrote 16 samples of 3 topics, 1.2 kB to part.mcap"
[[nodiscard]] std::string written_text(std::uint64_t samples, std::size_t topics, std::uint64_t bytes,
                                       const std::string& path);
// Notes that a file ends within a record.
void note_torn_end(console& out, merged_recording& from);
// Notes the names that MCAP cannot have, since they are not UTF-8, and that a copy has with escapes.
void note_escapes(console& out, merged_recording& from);
// Notes each loss, and their number. `samples`: how many samples are missing, as far as that is known.
void note_losses(console& out, const recording::losses& lost, std::uint64_t samples);

}  // namespace orc::cli
