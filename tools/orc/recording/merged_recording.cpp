#include "tools/orc/recording/merged_recording.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tools/orc/recording/shared_channel.h"
#include "tools/orc/text.h"

namespace orc::cli {

result merged_recording::open(const std::vector<std::string>& paths, std::unique_ptr<merged_recording>& made) {
  std::unique_ptr<merged_recording> all(new merged_recording);
  bool any = false;
  for (const std::string& path : paths) {
    open_file opened;
    opened.path = path;
    if (auto done = recording::reader::open(path, opened.reader); !done) return done;
    const recording::summary& about = opened.reader->summary();
    if (about.samples != 0) {
      all->first_ns_ = any ? std::min(all->first_ns_, about.first_ns) : about.first_ns;
      all->last_ns_ = any ? std::max(all->last_ns_, about.last_ns) : about.last_ns;
      any = true;
    }
    all->files_.push_back(std::move(opened));
    all->take_over_channels(all->files_.size() - 1);
  }
  made = std::move(all);
  return {};
}

std::uint64_t merged_recording::samples() const noexcept {
  std::uint64_t total = 0;
  for (const open_file& each : files_) total += each.reader->summary().samples;
  return total;
}

std::size_t merged_recording::line_number(const std::string& line) {
  const auto [place, added] = lines_.try_emplace(line, lines_.size());
  if (added) last_.emplace_back();
  return place->second;
}

void merged_recording::take_over_channels(std::size_t file) {
  open_file& of = files_[file];
  const auto& known = of.reader->channels();
  while (of.merged.size() < known.size()) {
    const auto id = static_cast<recording::channel_id>(of.merged.size());
    of.merged.push_back(channels_.size());
    of.selected.push_back(selected_.takes(known[id].topic));
    channels_.push_back({file, id, known[id]});
    line_of_.push_back(line_number(cli::line_of(known[id])));
  }
}

void merged_recording::select(const topic_filter& topics) {
  selected_ = topics;
  for (open_file& each : files_) {
    for (std::size_t id = 0; id < each.selected.size(); ++id)
      each.selected[id] = selected_.takes(channels_[each.merged[id]].what.topic);
    // All at once when it takes all: channels that are not known yet must not be left out.
    const bool all = std::all_of(each.selected.begin(), each.selected.end(), [](bool taken) { return taken; });
    each.reader->select(all ? std::vector<bool>() : each.selected);
    each.is_pending = false;
    each.at_end = false;
  }
}

result merged_recording::seek(std::int64_t received_ns) {
  for (open_file& each : files_) {
    each.is_pending = false;
    each.at_end = false;
    if (auto done = each.reader->seek(received_ns); !done) return in_file(each, done);
  }
  last_.assign(last_.size(), {});
  return {};
}

result merged_recording::next(merged_sample& found) {
  while (true) {
    std::size_t first = files_.size();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      open_file& each = files_[i];
      // A later split stays closed until its time has come.
      const auto& about = each.reader->summary();
      const bool later = !each.is_pending && first != files_.size() &&
                         about.first_ns > files_[first].pending.received_ns && about.samples != 0;
      if (later || each.at_end) continue;
      if (!each.is_pending) {
        if (auto read = fill(i); !read) return read;
        if (each.at_end) continue;
      }
      if (first == files_.size() || each.pending.received_ns < files_[first].pending.received_ns) first = i;
    }
    if (first == files_.size()) return errc::nothing_new;
    open_file& from = files_[first];
    from.is_pending = false;
    found = {from.merged[from.pending.channel], from.pending};
    if (!is_repeated(found.channel, found.what)) return {};
  }
}

// Reads the next sample of a file ahead.
result merged_recording::fill(std::size_t file) {
  open_file& of = files_[file];
  do {
    const result read = of.reader->next(of.pending);
    if (read.code() == errc::nothing_new) {
      of.at_end = true;
      return {};
    }
    if (!read) return in_file(of, read);
    if (of.pending.channel >= of.merged.size()) take_over_channels(file);
    if (of.pending.channel >= of.merged.size())
      return {errc::bad_argument, of.path + " has a sample of channel " + std::to_string(of.pending.channel) +
                                      ", which it does not declare"};
  } while (!of.selected[of.pending.channel]);
  of.is_pending = true;
  return {};
}

bool merged_recording::is_repeated(std::size_t channel, const recording::sample& sample) {
  last_read& last = last_[line_of_[channel]];
  const bool repeated = last.any && last.file != channels_[channel].file && last.sequence == sample.sequence &&
                        last.stamp_ns == sample.stamp_ns && last.size == sample.data.size();
  last = {channels_[channel].file, sample.sequence, sample.stamp_ns, sample.data.size(), true};
  return repeated;
}

result merged_recording::last_before(std::int64_t received_ns, std::vector<last_sample>& found) {
  std::vector<std::optional<last_sample>> newest(lines_.size());
  // The newest file first: it has most of them, and no chunk of the older ones is read for those.
  std::vector<std::size_t> order(files_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return files_[a].reader->summary().last_ns > files_[b].reader->summary().last_ns;
  });
  for (const std::size_t file : order) {
    open_file& from = files_[file];
    const recording::summary& about = from.reader->summary();
    if (about.samples == 0 || about.first_ns > received_ns) continue;
    for (std::size_t id = 0; id < from.merged.size(); ++id) {
      const auto& known = newest[line_of_[from.merged[id]]];
      if (!from.selected[id] || (known && known->sample.what.received_ns > about.last_ns)) continue;
      last_sample candidate;
      const result read = from.reader->last_before(static_cast<recording::channel_id>(id), received_ns,
                                                   candidate.sample.what, candidate.data);
      take_over_channels(file);  // a chunk may have described more of them
      newest.resize(lines_.size());
      if (read.code() == errc::nothing_new) continue;
      if (!read) return in_file(from, read);
      candidate.sample.channel = from.merged[id];
      auto& place = newest[line_of_[from.merged[id]]];
      // Of equal times the later channel counts: a restarted publisher's.
      if (!place || place->sample.what.received_ns <= candidate.sample.what.received_ns) place = std::move(candidate);
    }
  }
  for (auto& each : newest)
    if (each) found.push_back(*std::move(each));
  for (last_sample& each : found) each.sample.what.data = each.data;
  std::stable_sort(found.begin(), found.end(), [](const last_sample& a, const last_sample& b) {
    return a.sample.what.received_ns < b.sample.what.received_ns;
  });
  return {};
}

result merged_recording::in_file(const open_file& file, const result& failure) const {
  const std::string why = failure.error().message();
  return {failure.code(), why.find(file.path) == std::string::npos ? file.path + ": " + why : why};
}

}  // namespace orc::cli
