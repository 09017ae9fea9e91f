#include "tools/orc/record/record_buffer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace orc::cli {

namespace {

// Of a sample beside its bytes, with what the allocator adds.
constexpr std::size_t sample_overhead = sizeof(record_sample) + 56;

}  // namespace

void record_block::add(record_sample&& one) {
  bytes += one.size + sample_overhead;
  samples.push_back(std::move(one));
}

void record_loss::add(std::uint64_t more, std::int64_t from_ns, std::int64_t to_ns) {
  first_ns = count == 0 ? from_ns : std::min(first_ns, from_ns);
  last_ns = count == 0 ? to_ns : std::max(last_ns, to_ns);
  count += more;
}

void record_buffer::push(std::shared_ptr<record_block> filled) {
  if (filled->samples.empty()) return;
  // What falls out is destroyed without the lock.
  std::vector<std::shared_ptr<record_block>> fallen;
  {
    const std::lock_guard lock(mutex_);
    counters_.received += filled->samples.size();
    for (const record_sample& each : filled->samples) counters_.received_bytes += each.size;
    counters_.bytes += filled->bytes;
    blocks_.push_back(std::move(filled));
    const std::int64_t newest = blocks_.back()->samples.back().received.steady_ns;
    const auto expired = [&] {
      return keep_.count() != 0 && newest - blocks_.front()->samples.back().received.steady_ns > keep_.count();
    };
    while (blocks_.size() > 1 && (counters_.bytes > max_bytes_ || expired())) {
      const bool is_loss = !expired();
      if (is_loss && keep_.count() != 0) too_small_ = true;
      if (is_loss && keep_.count() == 0) {
        for (const record_sample& each : blocks_.front()->samples)
          dropped_[each.source->topic()].add(1, each.received.wall_ns, each.received.wall_ns);
        counters_.dropped += blocks_.front()->samples.size();
      }
      if (keep_.count() != 0) remember(*blocks_.front());
      counters_.bytes -= blocks_.front()->bytes;
      fallen.push_back(std::move(blocks_.front()));
      blocks_.pop_front();
    }
    counters_.max_bytes = std::max(counters_.max_bytes, counters_.bytes);
  }
  filled_.notify_one();
}

void record_buffer::remember(const record_block& expired) {
  std::unordered_map<const record_source*, const record_sample*> last;
  for (const record_sample& each : expired.samples) last[each.source.get()] = &each;
  bool is_more_shared = false;
  for (const auto& [source, each] : last) {
    record_sample own = each->share();
    own.detach();
    const auto [at, is_new] = before_.try_emplace(source->line());
    // Several sources of a topic may be in one block.
    if (is_new || at->second.received.steady_ns <= own.received.steady_ns) at->second = std::move(own);
    is_more_shared = is_more_shared || (is_new && source->is_shared());
  }
  if (!is_more_shared) return;
  const std::int64_t now = expired.samples.back().received.steady_ns;
  std::erase_if(before_, [now](const auto& each) { return each.second.source->has_ended_before(now); });
}

void record_buffer::note_missed(const std::string& topic, std::uint64_t count, std::int64_t after_ns,
                                std::int64_t before_ns) {
  const std::lock_guard lock(mutex_);
  missed_[topic].add(count, after_ns, before_ns);
  counters_.missed += count;
}

void record_buffer::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  filled_.notify_one();
}

record_buffer::portion record_buffer::pop(std::chrono::steady_clock::time_point until) {
  portion found;
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, until, [this] { return !blocks_.empty() || ended_; });
  if (!blocks_.empty()) {
    found.block = std::move(blocks_.front());
    blocks_.pop_front();
    counters_.bytes -= found.block->bytes;
  }
  found.dropped.swap(dropped_);
  found.missed.swap(missed_);
  found.ended = ended_ && blocks_.empty() && !found.block;
  return found;
}

std::vector<std::shared_ptr<const record_block>> record_buffer::snapshot(std::vector<record_sample>& before) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t begin = blocks_.empty() ? 0 : blocks_.front()->samples.front().received.steady_ns;
  for (const auto& [line, each] : before_)
    if (!each.source->has_ended_before(begin)) before.push_back(each.share());
  return {blocks_.begin(), blocks_.end()};
}

record_buffer::portion record_buffer::take_losses() {
  portion found;
  const std::lock_guard lock(mutex_);
  found.dropped.swap(dropped_);
  found.missed.swap(missed_);
  return found;
}

std::chrono::nanoseconds record_buffer::span() const {
  const std::lock_guard lock(mutex_);
  if (blocks_.empty()) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(blocks_.back()->samples.back().received.steady_ns -
                                  blocks_.front()->samples.front().received.steady_ns);
}

bool record_buffer::too_small() const {
  const std::lock_guard lock(mutex_);
  return too_small_;
}

record_buffer::counters record_buffer::count() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace orc::cli
