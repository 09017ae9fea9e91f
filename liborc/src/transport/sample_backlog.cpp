#include "transport/sample_backlog.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace orc::detail {

bool has_header(sample& s) noexcept {
  const auto header = wire::get(frame_of(s.buffer).data());
  return header.sequence == s.sequence && header.stamp_ns == s.stamp_ns;
}

sample* sample_backlog::frame_of(sample& s) noexcept {
  if (is_frame(s.buffer) && has_header(s)) return &s;
  if (made_.buffer && made_.sequence == s.sequence) return &made_;
  made_ = {allocate_frame(s.buffer.size()), s.sequence, s.stamp_ns};
  if (!made_.buffer) return nullptr;
  if (s.buffer.size() != 0) std::memcpy(made_.buffer.payload(), s.buffer.payload(), s.buffer.size());
  write_header(made_.buffer, {s.sequence, s.stamp_ns});
  return &made_;
}

bool sample_backlog::keep(sample& s) noexcept try {
  if (newest() == s.sequence) return true;
  sample* const frame = frame_of(s);
  if (frame == nullptr) return false;
  kept_.emplace_back();
  kept_.back().what = {share(frame->buffer), s.sequence, s.stamp_ns};
  bytes_ += frame->buffer.size();
  while (kept_.size() > 1 && bytes_ > most_bytes) {
    kept_[1].next_of += kept_[0].next_of;
    drop_oldest();
  }
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

void sample_backlog::drop_oldest() noexcept {
  bytes_ -= kept_.front().what.buffer.size();
  kept_.pop_front();
}

}  // namespace orc::detail
