#include "blocks/merged_reader.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace orc::recording::detail {
namespace {

constexpr std::size_t cache_bytes = std::size_t{64} << 20;

bool in_order(const block_entry& a, const block_entry& b) noexcept {
  return a.time != b.time ? a.time < b.time : a.offset < b.offset;
}

}  // namespace

merged_reader::merged_reader(std::unique_ptr<input_file> file) : file_(std::move(file)), cache_(cache_bytes) {
  from_.time = std::numeric_limits<std::int64_t>::min();
}

void merged_reader::set_blocks(std::vector<block> blocks) {
  blocks_ = std::move(blocks);
  std::sort(blocks_.begin(), blocks_.end(), [](const block& a, const block& b) {
    return a.first != b.first ? a.first < b.first : a.offset < b.offset;
  });
  index_channels();
  restart();
}

void merged_reader::index_channels() {
  of_channel_.clear();
  loaded_.assign(blocks_.size(), false);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    for (const channel_id which : blocks_[i].channels) add_to_index(i, which);
}

void merged_reader::add_to_index(std::size_t which, channel_id has) {
  if (of_channel_.size() <= has) of_channel_.resize(std::size_t{has} + 1);
  auto& list = of_channel_[has];
  auto at = std::partition_point(list.begin(), list.end(), [&](const auto& each) { return each.which < which; });
  at = list.insert(at, {which, 0});
  auto latest = at == list.begin() ? std::numeric_limits<std::int64_t>::min() : std::prev(at)->last_so_far;
  for (; at != list.end(); ++at) at->last_so_far = latest = std::max(latest, blocks_[at->which].last);
}

void merged_reader::learn_channels(std::size_t which, const block_content& content) {
  if (loaded_[which]) return;
  loaded_[which] = true;
  auto& known = blocks_[which].channels;
  std::vector<bool> is_known;
  const auto add = [&](channel_id each) {
    if (is_known.size() <= each) is_known.resize(std::size_t{each} + 1);
    const bool is_new = !is_known[each];
    is_known[each] = true;
    return is_new;
  };
  for (const channel_id each : known) add(each);
  for (const block_entry& each : content.entries) {
    if (!add(each.channel)) continue;
    known.insert(std::lower_bound(known.begin(), known.end(), each.channel), each.channel);
    add_to_index(which, each.channel);
    index_lacks_ = true;
  }
}

// Channels that select() did not know yet are read: the caller chooses among them when it knows them.
bool merged_reader::is_selected(channel_id which) const noexcept {
  return selected_.empty() || which >= selected_.size() || selected_[which];
}

bool merged_reader::is_wanted(std::size_t which) const noexcept {
  const block& here = blocks_[which];
  if (here.last < from_.time) return false;
  return selected_.empty() || here.channels.empty() ||  // a broken chunk, with anything
         (index_lacks_ && !loaded_[which]) ||
         std::any_of(here.channels.begin(), here.channels.end(), [this](channel_id c) { return is_selected(c); });
}

void merged_reader::restart() {
  open_ = {};
  unopened_ = 0;
}

void merged_reader::select(const std::vector<bool>& by_channel) {
  selected_ = by_channel;
  restart();
}

result merged_reader::seek(std::int64_t received_ns) {
  from_ = {received_ns, 0, 0};
  restart();
  return {};
}

result merged_reader::content_of(std::size_t which, std::shared_ptr<const block_content>& found) {
  const auto load_sorted = [this](std::size_t wanted, block_content& to) -> result {
    if (auto done = load(blocks_[wanted], to); !done) return done;
    if (!std::is_sorted(to.entries.begin(), to.entries.end(), in_order)) {
      std::sort(to.entries.begin(), to.entries.end(), in_order);
    }
    learn_channels(wanted, to);
    return {};
  };
  return cache_.get(which, load_sorted, found);
}

void merged_reader::advance(std::size_t which, const block_content& content, std::size_t entry) {
  const auto& entries = content.entries;
  while (entry < entries.size() && !is_selected(entries[entry].channel)) ++entry;
  if (entry == entries.size()) return;
  open_.push({{entries[entry].time, blocks_[which].offset, entries[entry].offset}, which, entry});
}

result merged_reader::open_next() {
  const std::size_t which = unopened_++;
  if (!is_wanted(which)) return {};
  std::shared_ptr<const block_content> content;
  if (auto done = content_of(which, content); !done) return done;
  const auto begin = content->entries.begin();
  const auto first = std::partition_point(begin, content->entries.end(), [&](const block_entry& e) {
    return sample_place{e.time, blocks_[which].offset, e.offset} < from_;
  });
  advance(which, *content, static_cast<std::size_t>(first - begin));
  return {};
}

result merged_reader::next(sample& found) {
  held_.reset();
  while (unopened_ < blocks_.size() && (open_.empty() || blocks_[unopened_].first <= open_.top().next.time)) {
    if (auto done = open_next(); !done) return done;
  }
  if (open_.empty()) return errc::nothing_new;
  const open_block top = open_.top();
  open_.pop();
  if (auto done = content_of(top.which, held_); !done) return done;
  // The file may have changed since the block was opened.
  if (top.entry >= held_->entries.size()) return next(found);
  found = sample_at(*held_, held_->entries[top.entry]);
  from_ = top.next;
  ++from_.offset;
  advance(top.which, *held_, top.entry + 1);
  return {};
}

result merged_reader::last_before(channel_id which, std::int64_t received_ns, sample& found,
                                  std::vector<std::byte>& data) {
  for (std::size_t i = 0; index_lacks_ && i < blocks_.size() && blocks_[i].first <= received_ns; ++i) {
    std::shared_ptr<const block_content> content;
    if (!loaded_[i]) static_cast<void>(content_of(i, content));
    loaded_[i] = true;  // also what is broken: it has no sample for us
  }
  if (which >= of_channel_.size()) return errc::nothing_new;
  const auto& list = of_channel_[which];
  const auto later = std::partition_point(
      list.begin(), list.end(), [&](const block_of_channel& b) { return blocks_[b.which].first <= received_ns; });
  std::optional<sample_place> best;
  for (auto i = later; i != list.begin();) {
    --i;
    if (best && i->last_so_far < best->time) break;
    const block& here = blocks_[i->which];
    if (best && here.last < best->time) continue;
    std::shared_ptr<const block_content> content;
    if (auto done = content_of(i->which, content); !done) continue;  // the sample before it is the best that there is
    const auto& entries = content->entries;
    auto entry = std::partition_point(entries.begin(), entries.end(),
                                      [&](const block_entry& e) { return e.time <= received_ns; });
    while (entry != entries.begin() && std::prev(entry)->channel != which) --entry;
    if (entry == entries.begin()) continue;
    --entry;
    const sample_place place{entry->time, here.offset, entry->offset};
    if (best && place < *best) continue;
    best = place;
    found = sample_at(*content, *entry);
    data.assign(found.data.begin(), found.data.end());
    found.data = data;
  }
  return best ? result() : result(errc::nothing_new);
}

}  // namespace orc::recording::detail
