#include "transport/sample_backlog.h"

#include <algorithm>
#include <new>

namespace orc::detail {

sample* sample_backlog::frame_of(sample& s) noexcept {
  if (!fill(s)) return nullptr;
  if (is_frame(s.buffer)) return &s;
  if (made_.buffer && made_.sequence == s.sequence) return &made_;
  made_ = {share_frame(s.buffer), s.sequence, s.stamp_ns};
  return made_.buffer ? &made_ : nullptr;
}

bool sample_backlog::keep(sample& s) noexcept try {
  if (newest() == s.sequence) return true;
  sample* const frame = frame_of(s);
  if (frame == nullptr) return false;
  kept_.emplace_back();
  kept_.back().what = {share(frame->buffer), s.sequence, s.stamp_ns};
  const begun* const same = begun_of(s.sequence);
  if (same == nullptr || same->abandoned) bytes_ += frame->buffer.size();
  make_room();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool sample_backlog::start(sample& s) noexcept {
  if (!keep(s)) return false;
  ++kept_.back().next_of;
  return true;
}

sample* sample_backlog::from(std::uint64_t sequence) noexcept {
  const auto found = find(sequence);
  return found != kept_.end() ? &found->what : nullptr;
}

std::uint64_t sample_backlog::go_on(std::uint64_t sequence, std::uint64_t next, std::uint64_t end) noexcept {
  const auto before = find(sequence);
  if (before != kept_.end() && before->next_of > 0) --before->next_of;
  const auto after = find(next);
  const bool more = after != kept_.end() && after->what.sequence < end;
  const std::uint64_t found = more ? after->what.sequence : 0;
  if (more) ++after->next_of;
  while (!kept_.empty() && kept_.front().next_of == 0) drop_oldest();
  return found;
}

std::deque<sample_backlog::entry>::iterator sample_backlog::find(std::uint64_t sequence) noexcept {
  return std::lower_bound(kept_.begin(), kept_.end(), sequence,
                          [](const entry& e, std::uint64_t wanted) { return e.what.sequence < wanted; });
}

bool sample_backlog::keeps(std::uint64_t sequence) noexcept {
  const auto found = find(sequence);
  return found != kept_.end() && found->what.sequence == sequence;
}

void sample_backlog::drop_oldest() noexcept {
  const begun* const same = begun_of(kept_.front().what.sequence);
  if (same == nullptr || same->abandoned) bytes_ -= kept_.front().what.buffer.size();
  kept_.pop_front();
}

bool sample_backlog::begin(const sample& s) noexcept try {
  auto at = find_begun(s.sequence);
  const bool first = at == begun_.end() || at->sequence != s.sequence;
  if (first) at = begun_.insert(at, {.sequence = s.sequence, .size = s.buffer.size()});
  ++at->readers;
  at->advanced = ++advances_;
  if (first && !keeps(s.sequence)) {
    bytes_ += s.buffer.size();
    make_room();
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void sample_backlog::advance(std::uint64_t sequence) noexcept {
  if (begun* const found = begun_of(sequence)) found->advanced = ++advances_;
}

void sample_backlog::end(std::uint64_t sequence) noexcept {
  const auto at = find_begun(sequence);
  if (at == begun_.end() || at->sequence != sequence || --at->readers != 0) return;
  if (at->abandoned)
    --abandoned_;
  else if (!keeps(sequence))
    bytes_ -= at->size;
  begun_.erase(at);
}

bool sample_backlog::is_abandoned(std::uint64_t sequence) noexcept {
  const begun* const found = begun_of(sequence);
  return found != nullptr && found->abandoned;
}

std::deque<sample_backlog::begun>::iterator sample_backlog::find_begun(std::uint64_t sequence) noexcept {
  return std::lower_bound(begun_.begin(), begun_.end(), sequence,
                          [](const begun& b, std::uint64_t wanted) { return b.sequence < wanted; });
}

sample_backlog::begun* sample_backlog::begun_of(std::uint64_t sequence) noexcept {
  const auto at = find_begun(sequence);
  return at != begun_.end() && at->sequence == sequence ? &*at : nullptr;
}

void sample_backlog::make_room() noexcept {
  while (bytes_ > max_bytes && kept_.size() > 1) {
    kept_[1].next_of += kept_[0].next_of;
    drop_oldest();
  }
  while (bytes_ > max_bytes && begun_.size() - abandoned_ > max_begun_of_any_size) {
    begun* idlest = nullptr;
    for (begun& each : begun_) {
      if (each.abandoned || keeps(each.sequence)) continue;  // ending one that is kept would free nothing
      if (idlest == nullptr || each.advanced < idlest->advanced) idlest = &each;
    }
    if (idlest == nullptr) return;
    idlest->abandoned = true;
    ++abandoned_;
    bytes_ -= idlest->size;
  }
}

}  // namespace orc::detail
