#include "tools/orc/play/read_ahead.h"

#include <algorithm>
#include <utility>

namespace orc::cli {

namespace {

constexpr std::size_t max_ahead_bytes = std::size_t{64} << 20;
constexpr std::size_t max_ahead_batches = 64;
constexpr std::size_t batch_bytes = std::size_t{1} << 20;
constexpr std::size_t batch_entries = 1024;
constexpr std::size_t max_spare = 8;
constexpr std::size_t max_problems = 100;

}  // namespace

read_ahead::read_ahead(merged_recording& source, const play_range& range)
    : source_(source),
      range_(range),
      told_channels_(source.channels().size()),
      start_ns_(range.from_ns),
      thread_([this] { run(); }) {}

read_ahead::~read_ahead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<play_batch> read_ahead::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || interrupted_ || (ended_ && !start_wanted_); });
  interrupted_ = false;
  if (ready_.empty()) return nullptr;
  std::unique_ptr<play_batch> taken = std::move(ready_.front());
  ready_.pop_front();
  ahead_bytes_ -= taken->data.size();
  lock.unlock();
  changed_.notify_all();
  return taken;
}

void read_ahead::give_back(std::unique_ptr<play_batch> used) {
  if (!used || used->data.capacity() > 4 * batch_bytes) return;
  const std::lock_guard lock(mutex_);
  if (spare_.size() < max_spare) spare_.push_back(std::move(used));
}

void read_ahead::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

void read_ahead::seek(std::int64_t position_ns) {
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    for (const auto& dropped : ready_) told_channels_ -= dropped->new_channels.size();
    ready_.clear();
    ahead_bytes_ = 0;
    start_ns_ = position_ns;
    start_wanted_ = true;
    ended_ = false;
  }
  changed_.notify_all();
}

std::vector<std::string> read_ahead::problems() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

bool read_ahead::is_full() const noexcept {
  return ahead_bytes_ >= max_ahead_bytes || ready_.size() >= max_ahead_batches;
}

std::unique_ptr<play_batch> read_ahead::empty_batch() {
  if (spare_.empty()) return std::make_unique<play_batch>();
  std::unique_ptr<play_batch> batch = std::move(spare_.back());
  spare_.pop_back();
  batch->new_channels.clear();
  batch->entries.clear();
  batch->data.clear();
  batch->last = false;
  return batch;
}

void read_ahead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || start_wanted_ || (!ended_ && !is_full()); });
    if (stop_) return;
    const bool start = std::exchange(start_wanted_, false);
    const std::int64_t position = start_ns_;
    std::unique_ptr<play_batch> batch = empty_batch();
    batch->generation = generation_;
    lock.unlock();
    if (start) start_at(position, *batch);
    fill(*batch);
    lock.lock();
    if (batch->generation != generation_) continue;  // a seek came meanwhile
    add_new_channels(*batch);
    ended_ = batch->last;
    ahead_bytes_ += batch->data.size();
    ready_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

void read_ahead::start_at(std::int64_t position_ns, play_batch& to) {
  at_end_ = false;
  if (position_ns > source_.first_ns()) {
    const result found = source_.each_last_before(
        position_ns - 1, [&](const merged_sample& each) { add(to, play_batch::entry::kind::state, each); });
    if (!found) add_problem(found);
  }
  if (const result moved = source_.seek(position_ns); !moved) {
    add_problem(moved);
    at_end_ = true;
  }
}

void read_ahead::fill(play_batch& to) {
  while (!at_end_ && to.data.size() < batch_bytes && to.entries.size() < batch_entries) {
    merged_sample sample;
    const result read = source_.next(sample);
    if (read && sample.what.received_ns <= range_.to_ns) {
      add(to, play_batch::entry::kind::sample, sample);
    } else if (!read && read.code() != errc::nothing_new) {
      add_problem(read);
      if (read.code() != errc::bad_argument) at_end_ = true;  // the disk, not one chunk
    } else if (range_.loop) {
      to.entries.push_back({.what = play_batch::entry::kind::wrap, .time_ns = range_.to_ns});
      start_at(range_.from_ns, to);
    } else {
      at_end_ = true;
    }
  }
  to.last = at_end_;
}

void read_ahead::add(play_batch& to, play_batch::entry::kind what, const merged_sample& sample) {
  to.entries.push_back({what, sample.channel, sample.what.received_ns, sample.what.stamp_ns, sample.what.sequence,
                        to.data.size(), sample.what.data.size()});
  to.data.insert(to.data.end(), sample.what.data.begin(), sample.what.data.end());
}

void read_ahead::add_new_channels(play_batch& to) {
  const auto& known = source_.channels();
  to.new_channels.assign(known.begin() + static_cast<std::ptrdiff_t>(told_channels_), known.end());
  told_channels_ = known.size();
}

void read_ahead::add_problem(const result& failure) {
  const std::lock_guard lock(mutex_);
  if (problems_.size() < max_problems) problems_.push_back(failure.error().message());
}

}  // namespace orc::cli
