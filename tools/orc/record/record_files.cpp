#include "tools/orc/record/record_files.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "orc/recording/reader.h"
#include "orc/version.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

using clock = std::chrono::steady_clock;

// How long the first samples of a source wait for its type.
constexpr std::int64_t patience_ns = 2'000'000'000;

// A channel number is taken for each version of a source: a new file comes before they run out.
constexpr std::size_t max_channels = 60000;
// Sources that are gone are forgotten beyond this number.
constexpr std::size_t max_known = 4096;

// The writer makes chunks of at most a second, so that a power loss costs no more.
constexpr std::int64_t chunk_ns = 900'000'000;

std::map<std::string, std::string> described(const std::string& topic, const record_loss& loss) {
  return {{"topic", topic},
          {"count", std::to_string(loss.count)},
          {"first_ns", std::to_string(loss.first_ns)},
          {"last_ns", std::to_string(loss.last_ns)}};
}
std::map<std::string, std::string> described(const std::string& topic, const record_loss& loss,
                                             const std::string& reason) {
  auto entries = described(topic, loss);
  entries["reason"] = reason;
  return entries;
}

bool has_no_sample(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::file_size(path, problem) == 0) return !problem;
  std::unique_ptr<recording::reader> file;
  return recording::reader::open(path, file) && file->summary().samples == 0;
}

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

}  // namespace

std::string split_name(const std::string& base, unsigned index, const std::string& extension) {
  char number[16];
  std::snprintf(number, sizeof number, "_%04u", index);
  return base + number + extension;
}

record_files::record_files(const record_options& options, record_progress& progress,
                           std::function<void(const std::string&)> note)
    : options_(options), progress_(progress), note_(std::move(note)) {}

result record_files::open(const std::string& path) {
  const std::filesystem::path whole(path);
  extension_ = whole.extension().string();
  base_ = path.substr(0, path.size() - extension_.size());
  path_ = path;
  auto made = create(0);
  // Nobody chose a default name: another recorder of this second has it.
  for (int i = 2; i < 1000 && made.code() == errc::bad_argument && options_.output.empty(); ++i) {
    base_ = path.substr(0, path.size() - extension_.size()) + "-" + std::to_string(i);
    path_ = base_ + extension_;
    made = create(0);
  }
  if (!made) static_cast<void>(close_file());
  return made;
}

result record_files::create(std::int64_t steady_ns) {
  if (options_.split.any() || file_ > 0) path_ = split_name(base_, file_, extension_);
  // A default name is never that of a file which someone means to replace.
  const bool overwrite = options_.force && !options_.output.empty();
  result made;
  if (options_.format == record_format::lcm) {
    made = recording::create_lcm_log(path_, overwrite, writer_, &full_);
  } else {
    recording::mcap_options wish;
    wish.compression = options_.compression;
    wish.sync = options_.sync;
    wish.overwrite = overwrite;
    wish.chunk_ns = chunk_ns;
    made = recording::create_mcap(path_, wish, writer_, &full_);
  }
  if (!made) {
    if (!finished_.empty()) path_ = finished_.back().path;
    return made;
  }
  ++file_;
  ++progress_.files;
  begun_ns_ = steady_ns;
  start_bytes_ = 0;
  channels_ = 0;
  for (auto& [source, each] : sources_) each.file = 0;
  std::map<std::string, std::string> facts{
      {"recorder", std::string("orc ") + version()}, {"host", host_name()}, {"file", std::to_string(file_ - 1)}};
  if (auto written = writer_->add_metadata("orc.recording", facts); !written) return failed(std::move(written));
  count_bytes();
  return {};
}

result record_files::next_file(record_moment now) {
  if (auto closed = close_file(); !closed) return closed;
  finished_.push_back({path_, writer_->bytes()});
  finished_bytes_ += writer_->bytes();
  bytes_before_ += writer_->bytes();
  writer_.reset();
  forget_ended(now.steady_ns);
  if (sources_.size() > max_known)
    std::erase_if(sources_, [](const auto& each) { return each.second.source.use_count() == 1; });
  if (auto made = create(now.steady_ns); !made) return made;
  if (auto repeated = repeat_last_samples(now.wall_ns); !repeated) return repeated;
  start_bytes_ = writer_->bytes();
  return {};
}

// The last sample of a publisher that left a shared topic begins no later file.
void record_files::forget_ended(std::int64_t steady_ns) {
  for (auto at = sources_.begin(); at != sources_.end();) {
    const known_source& each = at->second;
    if (!each.waiting.empty() || !each.source->has_ended_before(steady_ns)) {
      ++at;
      continue;
    }
    const auto last = last_.find(each.source->line());
    if (last != last_.end() && last->second->source == each.source) last_.erase(last);
    at = sources_.erase(at);
  }
}

result record_files::repeat_last_samples(std::int64_t now_ns) {
  for (const auto& [line, sample] : last_) {
    if (!sample->source || !sample->source->keep_last()) continue;
    auto appended = append(*sample, known(sample->source), now_ns);
    if (auto settled = settle(std::move(appended), *sample); !settled) return settled;
  }
  return {};
}

void record_files::delete_oldest() {
  if (options_.max_size == 0) return;
  while (!finished_.empty() && finished_bytes_ + writer_->bytes() > options_.max_size) {
    std::error_code ignored;
    std::filesystem::remove(finished_.front().path, ignored);
    finished_bytes_ -= finished_.front().bytes;
    finished_.pop_front();
  }
}

bool record_files::is_due(std::int64_t steady_ns) const {
  // A file alone must leave room for the one before it.
  const std::uint64_t most = options_.split.bytes != 0 ? options_.split.bytes : options_.max_size / 2;
  // What a file starts with does not count: large last samples must not make a file for each sample.
  const std::uint64_t grown = writer_->bytes() - start_bytes_;
  if (most != 0 && grown > 0 && writer_->bytes() >= most) return true;
  return options_.split.time.count() != 0 && begun_ns_ != 0 && steady_ns - begun_ns_ >= options_.split.time.count();
}

record_files::known_source& record_files::known(const std::shared_ptr<record_source>& source) {
  known_source& found = sources_[source.get()];
  if (!found.source) {
    found.source = source;
    auto& last = last_[source->line()];
    if (!last) last = std::make_shared<record_sample>();
    found.last = last;
  }
  return found;
}

result record_files::channel_of(known_source& from) {
  const std::uint32_t version = from.source->version();
  if (from.file == file_ && from.version == version) return {};
  recording::channel described = from.source->channel();
  if (version == 0) described.topic = from.source->topic();
  from.version = version;
  if (auto added = writer_->add_channel(described, from.channel); !added) return added;
  from.file = file_;
  ++channels_;
  return {};
}

result record_files::append(record_sample& sample, known_source& from, std::int64_t received_ns) {
  if (auto ready = channel_of(from); !ready) return ready;
  recording::sample view;
  view.channel = from.channel;
  view.sequence = sample.sequence;
  view.received_ns = received_ns;
  view.stamp_ns = sample.stamp_ns;
  view.data = sample.bytes();
  if (auto written = writer_->write(view); !written) return written;
  ++progress_.samples;
  return {};
}

result record_files::settle(result appended, const record_sample& sample) {
  if (appended.code() != errc::bad_argument) return failed(std::move(appended));
  const std::string& topic = sample.source->topic();
  refusal& known = refused_[topic];
  known.loss.add(1, sample.received.wall_ns, sample.received.wall_ns);
  known.reason = appended.error().message();
  ++progress_.refused;
  if (noted_.insert(topic).second) note_("loses samples of '" + topic + "': " + known.reason);
  return {};
}

result record_files::write(record_sample&& sample) {
  if (auto written = write_waiting(false); !written) return written;
  known_source& from = known(sample.source);
  if (from.patient_until_ns == 0) from.patient_until_ns = sample.received.steady_ns + patience_ns;
  // The type may have come just now: earlier samples go first.
  const bool is_next = from.waiting.empty() && !waits(from);
  return is_next ? write_now(std::move(sample)) : set_aside(std::move(sample), from);
}

// An LCM log has no types.
bool record_files::waits(const known_source& from) const {
  return from.source->version() == 0 && options_.format != record_format::lcm &&
         record_moment::now().steady_ns < from.patient_until_ns;
}

result record_files::set_aside(record_sample&& sample, known_source& from) {
  if (from.waiting.empty()) waiting_.push_back(&from);
  waiting_bytes_ += sample.size;
  from.waiting.push_back(std::move(sample));
  // Beyond this the buffer takes what comes.
  if (waiting_bytes_ <= options_.buffer / 4) return {};
  if (auto flushed = writer_->flush(); !flushed) return failed(std::move(flushed));
  return write_waiting(true);
}

// `all`: waits for the types, as long as patience lasts.
result record_files::write_waiting(bool all) {
  for (std::size_t i = 0; i < waiting_.size();) {
    known_source& each = *waiting_[i];
    if (all) each.source->wait_until_known(clock::time_point(std::chrono::nanoseconds(each.patient_until_ns)));
    if (waits(each)) {
      ++i;
      continue;
    }
    std::vector<record_sample> samples;
    samples.swap(each.waiting);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    for (record_sample& one : samples) {
      waiting_bytes_ -= one.size;
      if (auto written = write_now(std::move(one)); !written) return written;
    }
  }
  return {};
}

result record_files::write_now(record_sample&& sample) {
  const record_moment at = sample.received;
  if (begun_ns_ == 0) begun_ns_ = at.steady_ns;
  if (is_due(at.steady_ns) || channels_ >= max_channels)
    if (auto next = next_file(at); !next) return next;
  known_source& from = known(sample.source);
  auto appended = append(sample, from, at.wall_ns);
  const bool is_taken = static_cast<bool>(appended);
  if (auto settled = settle(std::move(appended), sample); !settled || !is_taken) return settled;
  count_bytes();
  // Samples that had to wait come after newer ones.
  if (!options_.split.any() || at.steady_ns < from.last->received.steady_ns) return {};
  sample.detach();
  *from.last = std::move(sample);
  return {};
}

result record_files::write_earlier(record_sample&& sample, std::int64_t received_ns) {
  if (!sample.source->keep_last()) return {};
  auto appended = append(sample, known(sample.source), received_ns);
  return settle(std::move(appended), sample);
}

void record_files::lost(const record_losses& dropped, const record_losses& missed) {
  const auto add = [](const record_losses& from, record_losses& to) {
    for (const auto& [topic, each] : from) to[topic].add(each.count, each.first_ns, each.last_ns);
  };
  add(dropped, dropped_);
  add(missed, missed_);
}

result record_files::write_losses() {
  for (const auto& [topic, loss] : dropped_)
    if (auto written = writer_->add_metadata("orc.drops", described(topic, loss, "the buffer was full")); !written)
      return failed(std::move(written));
  dropped_.clear();
  for (const auto& [topic, refused] : refused_)
    if (auto written = writer_->add_metadata("orc.drops", described(topic, refused.loss, refused.reason)); !written)
      return failed(std::move(written));
  refused_.clear();
  for (const auto& [topic, loss] : missed_)
    if (auto written = writer_->add_metadata("orc.missed", described(topic, loss)); !written)
      return failed(std::move(written));
  missed_.clear();
  return {};
}

result record_files::tick(record_moment now) {
  if (is_due(now.steady_ns))
    if (auto next = next_file(now); !next) return next;
  if (auto written = write_waiting(false); !written) return written;
  if (auto written = write_losses(); !written) return written;
  if (auto flushed = writer_->flush(); !flushed) return failed(std::move(flushed));
  count_bytes();
  return {};
}

result record_files::close() {
  if (!writer_) return {};
  result done = full_ ? result() : write_waiting(true);
  result closed = close_file();
  return done ? closed : done;
}

result record_files::close_file() {
  if (!writer_) return {};
  result done = full_ ? result() : write_losses();
  const result closed = writer_->close();
  if (!closed && closed.code() != errc::closed) done = failed(closed);
  count_bytes();
  if (full_) remove_if_empty();
  return done;
}

void record_files::remove_if_empty() {
  if (!has_no_sample(path_)) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  --progress_.files;
  if (!finished_.empty()) path_ = finished_.back().path;
}

result record_files::failed(result why) {
  if (writer_ && writer_->is_full()) full_ = true;
  return why;
}

void record_files::count_bytes() {
  const std::uint64_t now = bytes_before_ + writer_->bytes();
  progress_.bytes += now - std::exchange(counted_, now);
  delete_oldest();
}

}  // namespace orc::cli
