#include "blocks/block_cache.h"

#include <algorithm>

namespace orc::recording::detail {
namespace {

constexpr std::size_t max_blocks = 64;  // small ones cost as much to look through as to load

std::size_t memory_of(const block_content& content) noexcept {
  return content.data.capacity() + content.entries.capacity() * sizeof(block_entry);
}

}  // namespace

result block_cache::get(std::size_t which, const loader& load, std::shared_ptr<const block_content>& found) {
  const auto here = std::find_if(blocks_.begin(), blocks_.end(), [&](const kept& k) { return k.which == which; });
  if (here != blocks_.end()) {
    blocks_.splice(blocks_.begin(), blocks_, here);
    found = blocks_.front().content;
    return {};
  }
  auto content = make_room();
  if (auto done = load(which, *content); !done) return done;
  bytes_ += memory_of(*content);
  blocks_.push_front({which, content});
  found = std::move(content);
  while (blocks_.size() > 1 && (bytes_ > max_bytes_ || blocks_.size() > max_blocks)) {
    bytes_ -= memory_of(*blocks_.back().content);
    // Its memory serves the next one: fresh pages cost more than reading a chunk.
    if (blocks_.back().content.use_count() == 1 && memory_of(*blocks_.back().content) <= max_bytes_)
      spare_ = std::move(blocks_.back().content);
    blocks_.pop_back();
  }
  return {};
}

std::shared_ptr<block_content> block_cache::make_room() {
  auto content = spare_ ? std::move(spare_) : std::make_shared<block_content>();
  spare_.reset();
  content->data.clear();
  content->entries.clear();
  return content;
}

}  // namespace orc::recording::detail
