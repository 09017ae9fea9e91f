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

bool sample_backlog::add(sample& s) noexcept try {
  if (kept_.empty() || newest() != s.sequence) {
    sample* const frame = frame_of(s);
    if (frame == nullptr) return false;
    const std::size_t size = frame->buffer.size();
    while (!kept_.empty() && bytes_ + size > most_bytes) {
      drop_bytes(kept_.front());
      kept_.pop_front();
    }
    kept_.emplace_back();
    kept_.back().what = {share(frame->buffer), s.sequence, s.stamp_ns};
    bytes_ += size;
  }
  ++kept_.back().readers;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

sample* sample_backlog::from(std::uint64_t sequence) noexcept {
  auto found = find(sequence);
  while (found != kept_.end() && !found->what.buffer) ++found;
  return found != kept_.end() ? &found->what : nullptr;
}

void sample_backlog::release(std::uint64_t sequence) noexcept {
  const auto found = find(sequence);
  if (found == kept_.end() || found->what.sequence != sequence) return;
  release(*found);
  trim();
}

void sample_backlog::release_from(std::uint64_t sequence) noexcept {
  for (auto each = find(sequence); each != kept_.end(); ++each) release(*each);
  trim();
}

std::deque<sample_backlog::entry>::iterator sample_backlog::find(std::uint64_t sequence) noexcept {
  return std::lower_bound(kept_.begin(), kept_.end(), sequence,
                          [](const entry& e, std::uint64_t wanted) { return e.what.sequence < wanted; });
}

void sample_backlog::release(entry& e) noexcept {
  if (e.readers == 0 || --e.readers != 0) return;
  drop_bytes(e);
}

void sample_backlog::drop_bytes(entry& e) noexcept {
  if (!e.what.buffer) return;
  bytes_ -= e.what.buffer.size();
  e.what.buffer.reset();
}

void sample_backlog::trim() noexcept {
  while (!kept_.empty() && kept_.front().readers == 0) kept_.pop_front();
}

}  // namespace orc::detail
