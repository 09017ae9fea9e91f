// A recording that a command makes of others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/stop_signal.h"
#include "orc/recording/writer.h"
#include "tools/command_line/cli_fwd.h"
#include "tools/orc/log/output_file.h"
#include "tools/orc/recording/merged_recording.h"
#include "tools/orc/type/lcm_decoders.h"

namespace orc::cli {

enum class log_format : std::uint8_t { mcap, lcm, csv };

struct new_recording_options {
  std::string path;
  bool force = false;
  std::string to;           // "mcap", "lcm", "csv"; empty: by the extension, else as the input
  std::string compression;  // "none", "lz4", "zstd"; empty: none
};

// Adds -o, --force and --compression.
void add_new_recording(CLI::App& command, new_recording_options& options);

// The format that the options say. Nothing: neither they nor the extension say one.
[[nodiscard]] std::optional<log_format> format_of(const new_recording_options& options);

// Copies samples of merged recordings, with channels, metadata and attachments as far as the format has them.
class new_recording {
 public:
  // - bad_argument: the file exists already. - no_permission, system_error.
  static result create(const new_recording_options& options, log_format format, merged_recording& from,
                       const lcm_decoders* types, std::unique_ptr<new_recording>& made);

  // - bad_argument: the format cannot have the sample, or its channel. Further samples of that channel are left out,
  //   with ok.
  result copy(const merged_sample& sample);
  // As if it had come then.
  result copy_at(const merged_sample& sample, std::int64_t received_ns);
  // Metadata and attachments of all files. Ends at what cannot be read; with `lost`, goes on behind it.
  result copy_extras(recording::losses* lost);
  // The channels that had no sample, as far as the format can have them.
  result copy_silent_channels();
  // Completes the file, and gives it its name.
  result finish();

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::size_t topics() const;  // with samples
  [[nodiscard]] std::uint64_t bytes() const noexcept { return writer_->bytes(); }
  // For a caller that copies on its own.
  [[nodiscard]] recording::writer& writer() noexcept { return *writer_; }
  // The writer's failure, with the name that the file is to have.
  [[nodiscard]] result renamed(const result& failure) const { return file_.renamed(failure); }

 private:
  new_recording(const new_recording_options& options, merged_recording& from, const lcm_decoders* types)
      : from_(from), types_(types), file_(options.path, options.force) {}
  // Nothing: the format cannot have this channel, which was said before.
  result channel_for(const merged_sample& sample, std::optional<recording::channel_id>& found);

  merged_recording& from_;
  const lcm_decoders* types_;  // null: channels keep their types
  output_file file_;
  std::unique_ptr<recording::writer> writer_;
  // By channel of `from_`, and by the type that its sample was recognised by.
  std::map<std::pair<std::size_t, const types::decoder*>, std::optional<recording::channel_id>> channels_;
  std::uint64_t samples_ = 0;
};

}  // namespace orc::cli
