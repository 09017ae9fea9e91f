#include "tools/orc/log/new_recording.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <set>

#include "tools/command_line/help.h"
#include "tools/orc/recording/recorded_types.h"
#include "tools/orc/text.h"

namespace orc::cli {

void add_new_recording(CLI::App& command, new_recording_options& options) {
  command.add_option("-o,--output", options.path, "The new recording")->required()->type_name("FILE");
  command.add_flag("--force", options.force, "Replace FILE if it exists");
  one_of(command.add_option("--compression", options.compression, "Of MCAP chunks (default: none)"),
         {"none", "lz4", "zstd"});
}

std::optional<log_format> format_of(const new_recording_options& options) {
  const std::string extension = std::filesystem::path(options.path).extension().string();
  const std::string& word = options.to;
  if (word == "mcap" || (word.empty() && extension == ".mcap")) return log_format::mcap;
  if (word == "csv" || (word.empty() && extension == ".csv")) return log_format::csv;
  if (word == "lcm" || (word.empty() && (extension == ".lcm" || extension == ".lcmlog" || extension == ".log")))
    return log_format::lcm;
  return std::nullopt;
}

result new_recording::create(const new_recording_options& options, log_format format, merged_recording& from,
                             const lcm_decoders* types, std::unique_ptr<new_recording>& made) {
  std::unique_ptr<new_recording> own(new new_recording(options, from, types));
  if (auto free = own->file_.check(); !free) return free;
  recording::mcap_options mcap;
  if (options.compression == "lz4") mcap.compression = recording::compression::lz4;
  if (options.compression == "zstd") mcap.compression = recording::compression::zstd;
  for (std::size_t i = 0; i < from.files(); ++i) {
    const recording::summary& about = from.reader(i).summary();
    if (i == 0) mcap.profile = about.profile;
    if (about.profile != mcap.profile) mcap.profile.clear();  // the files have nothing in common
    if (mcap.copy_of.empty()) mcap.copy_of = about.library;
  }
  const result created = format == log_format::lcm
                             ? recording::create_lcm_log(own->file_.temporary(), false, own->writer_)
                             : recording::create_mcap(own->file_.temporary(), mcap, own->writer_);
  if (!created) return own->file_.renamed(created);
  made = std::move(own);
  return {};
}

result new_recording::channel_for(const merged_sample& sample, std::optional<recording::channel_id>& found) {
  const types::decoder* const type = types_ == nullptr ? nullptr : types_->find(sample.what.data);
  const auto known = channels_.find({sample.channel, type});
  if (known != channels_.end()) {
    found = known->second;
    return {};
  }
  recording::channel channel = from_.channels()[sample.channel].what;
  if (type != nullptr && is_unknown(channel.type)) channel.type = type->type();
  recording::channel_id made = 0;
  result added = writer_->add_channel(channel, made);
  if (added) found = made;
  channels_[{sample.channel, type}] = found;
  return added;
}

result new_recording::copy(const merged_sample& sample) { return copy_at(sample, sample.what.received_ns); }

result new_recording::copy_at(const merged_sample& sample, std::int64_t received_ns) {
  recording::sample copy = sample.what;
  if (copy.received_ns != received_ns) copy.received_excess_ns = 0;
  copy.received_ns = received_ns;
  std::optional<recording::channel_id> channel;
  if (auto found = channel_for(sample, channel); !found) return file_.renamed(found);
  if (!channel) return {};
  copy.channel = *channel;
  if (auto written = writer_->write(copy); !written) return file_.renamed(written);
  ++samples_;
  return {};
}

std::size_t new_recording::topics() const {
  std::set<std::string> names;
  for (const auto& [key, made] : channels_)
    if (made) names.insert(from_.channels()[key.first].what.topic);
  return names.size();
}

result new_recording::copy_extras(recording::losses* lost) {
  std::vector<std::byte> data;
  for (std::size_t file = 0; file < from_.files(); ++file) {
    recording::reader& reader = from_.reader(file);
    for (const recording::named_metadata& each : reader.metadata())
      if (auto added = writer_->add_metadata(each.name, each.entries); !added) return file_.renamed(added);
    for (std::size_t i = 0; i < reader.attachments().size(); ++i) {
      const recording::attachment& each = reader.attachments()[i];
      if (auto read = reader.read_attachment(i, data); !read) {
        if (lost == nullptr) return read;
        lost->add(read.error().message());
        continue;
      }
      if (auto added = writer_->add_attachment(each, data); !added) return file_.renamed(added);
    }
  }
  return {};
}

result new_recording::copy_silent_channels() {
  std::size_t number = 0;
  for (const merged_channel& each : from_.channels()) {
    const auto made = channels_.lower_bound({number, nullptr});
    const bool is_there = made != channels_.end() && made->first.first == number++;
    recording::channel_id unused = 0;
    if (is_there) continue;
    const result added = writer_->add_channel(each.what, unused);
    if (!added && added.code() != errc::bad_argument) return file_.renamed(added);
  }
  return {};
}

result new_recording::finish() {
  if (auto closed = writer_->close(); !closed) return file_.renamed(closed);
  return file_.commit();
}

}  // namespace orc::cli
