#include "lcm_log/lcm_log_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "files/failure.h"
#include "mcap/mcap_check.h"

namespace orc::recording::detail {
namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;

constexpr std::array<std::byte, 4> sync_bytes = {std::byte{0xED}, std::byte{0xA1}, std::byte{0xDA}, std::byte{0x01}};

std::int64_t ns_of(std::uint64_t us) noexcept {
  constexpr std::uint64_t most = INT64_MAX / 1000;
  return static_cast<std::int64_t>(std::min(us, most)) * 1000;
}

}  // namespace

std::optional<lcm_event_head_fields> lcm_log_reader::head_at(file_window& window, std::uint64_t offset) const {
  const auto bytes = window.at(offset, lcm_event_head);
  if (bytes.size() < lcm_event_head) return std::nullopt;
  const auto head = parse_lcm_head(bytes.first<lcm_event_head>());
  if (!head.is_possible() || head.event_length() > file().size() - offset) return std::nullopt;
  return head;
}

bool lcm_log_reader::is_border(std::span<const std::byte> there, std::uint64_t offset) const noexcept {
  // At the end, a part of the word is enough: the file is torn there.
  const std::size_t size = std::min({there.size(), sync_bytes.size()});
  if (size < sync_bytes.size() && offset + size != file().size()) return false;
  return std::equal(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(size), sync_bytes.begin());
}

bool lcm_log_reader::is_event(std::uint64_t offset) const {
  std::array<std::byte, lcm_event_head> bytes{};
  if (bytes.size() > file().size() - offset || !file().read(offset, bytes)) return false;
  const auto head = parse_lcm_head(bytes);
  if (!head.is_possible() || head.event_length() > file().size() - offset) return false;
  const std::uint64_t end = offset + head.event_length();
  std::array<std::byte, sync_bytes.size()> next{};
  const auto there =
      std::span(next).first(static_cast<std::size_t>(std::min<std::uint64_t>(next.size(), file().size() - end)));
  return file().read(end, there) && is_border(there, end);
}

std::uint64_t lcm_log_reader::resync(file_window& window, std::uint64_t offset) const {
  while (offset < file().size()) {
    auto bytes = window.at(offset, file_window::max_bytes);
    if (!window.status()) {
      const std::uint64_t page_end = offset - offset % file_window::page_bytes + file_window::page_bytes;
      bytes = window.at(offset, std::max<std::size_t>(page_end - offset, sync_bytes.size()));
      if (!window.status()) {
        offset = page_end;
        continue;
      }
    }
    if (bytes.size() < sync_bytes.size()) break;
    const auto at = std::search(bytes.begin(), bytes.end(), sync_bytes.begin(), sync_bytes.end());
    if (at == bytes.end()) {
      offset += bytes.size() - (sync_bytes.size() - 1);  // the word may lie across the end
      continue;
    }
    offset += static_cast<std::uint64_t>(at - bytes.begin());
    if (is_event(offset)) return offset;
    ++offset;
  }
  return file().size();
}

std::optional<channel_id> lcm_log_reader::channel_named(std::string_view name) {
  const std::string key(name);
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  if (channels_.size() >= max_channels) return std::nullopt;
  const auto made = static_cast<channel_id>(channels_.size());
  channel added;
  added.topic = key;
  added.type.message_encoding = "lcm";
  channels_.push_back(std::move(added));
  summary_.samples_of.push_back(0);
  in_block_.push_back(false);
  names_.emplace(key, made);
  return made;
}

void lcm_log_reader::note_damage(std::uint64_t from, std::uint64_t to) {
  if (from == to) return;
  summary_.left_out.add(file().name() + ": " + std::to_string(to - from) + " bytes from byte " + std::to_string(from) +
                        " on are no event that can be used");
}

void lcm_log_reader::add(const event& found, std::vector<block>& blocks) {
  const std::int64_t time = ns_of(found.head.time_us);
  const std::uint64_t length = found.head.event_length();
  const bool fits = !found.is_cut && !blocks.empty() && blocks.back().offset + blocks.back().length == found.offset &&
                    blocks.back().length + length <= block_bytes;
  if (!fits) {
    if (!blocks.empty()) {
      for (const channel_id which : blocks.back().channels) in_block_[which] = false;
    }
    blocks.push_back({.offset = found.offset, .first = time, .last = time});
  }
  block& here = blocks.back();
  here.length += length;
  here.first = std::min(here.first, time);
  here.last = std::max(here.last, time);
  if (!in_block_[found.channel]) {
    in_block_[found.channel] = true;
    here.channels.push_back(found.channel);
  }
  summary_.first_ns = summary_.samples == 0 ? time : std::min(summary_.first_ns, time);
  summary_.last_ns = summary_.samples == 0 ? time : std::max(summary_.last_ns, time);
  ++summary_.samples;
  ++summary_.samples_of[found.channel];
}

result lcm_log_reader::open() {
  summary_.format = "lcm";
  summary_.bytes = file().size();
  file_window window(file());
  std::vector<block> blocks;
  std::uint64_t at = 0;
  while (at < file().size()) {
    auto head = head_at(window, at);
    const std::uint64_t end = head ? at + head->event_length() : at;
    std::uint64_t next = end;
    const bool at_border = head && is_border(window.at(end, sync_bytes.size()), end);
    const bool is_cut = head && !window.status();
    if (!at_border) {
      next = resync(window, at + 1);
      // An event that is found within this one says that this one's lengths are wrong.
      if (next < end) head.reset();
      if (!head && next == file().size()) break;
      note_damage(head ? end : at, next);
    }
    if (head) {
      const auto name = window.at(at + lcm_event_head, head->channel_length);
      const auto which = name.size() == head->channel_length
                             ? channel_named({reinterpret_cast<const char*>(name.data()), name.size()})
                             : std::nullopt;
      if (which) {
        add({*head, at, *which, is_cut}, blocks);
      } else {
        note_damage(at, end);
      }
      summary_.readable_bytes = end;
    }
    at = next;
  }
  summary_.closed = summary_.readable_bytes == summary_.bytes;
  for (auto& made : blocks) std::sort(made.channels.begin(), made.channels.end());
  std::array<std::byte, sync_bytes.size()> first{};
  const bool begins_one = file().size() >= first.size() && file().read(0, first) && first == sync_bytes;
  if (blocks.empty() && !begins_one)
    return broken(file().name(), "is neither an MCAP file nor an LCM log: byte 0 begins neither");
  set_blocks(std::move(blocks));
  return {};
}

result lcm_log_reader::load(const block& which, block_content& to) {
  to.data.resize(static_cast<std::size_t>(which.length));
  if (auto done = file().read(which.offset, {to.data.data(), to.data.size()}); !done) return done;
  const auto bytes = to.data.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const bool has_head = bytes.size() - at >= lcm_event_head;
    const auto head =
        has_head ? parse_lcm_head(bytes.subspan(at).first<lcm_event_head>()) : lcm_event_head_fields{.sync = 0};
    if (!head.is_possible() || head.event_length() > bytes.size() - at) {
      return broken(file().name(), "the event at byte " + std::to_string(which.offset + at) + " has changed");
    }
    const auto name = bytes.subspan(at + lcm_event_head, head.channel_length);
    const auto id = channel_named({reinterpret_cast<const char*>(name.data()), name.size()});
    if (id) to.entries.push_back({ns_of(head.time_us), static_cast<std::uint32_t>(at), *id});
    at += static_cast<std::size_t>(head.event_length());
  }
  return {};
}

sample lcm_log_reader::sample_at(const block_content& content, const block_entry& entry) const {
  const auto bytes = content.data.bytes().subspan(entry.offset);
  const auto head = parse_lcm_head(bytes.first<lcm_event_head>());
  // The number of the event is one of the log, not of the channel: it would show gaps that are none.
  return {entry.channel, 0, entry.time, entry.time,
          bytes.subspan(lcm_event_head + head.channel_length, head.data_length)};
}

result lcm_log_reader::read_attachment(std::size_t, std::vector<std::byte>&) {
  return {errc::bad_argument, file().name() + " is an LCM log: it has no attachments"};
}

result lcm_log_reader::check(std::vector<std::string>& problems) {
  problems = summary_.left_out.sentences;
  if (!summary_.closed && problems.size() < max_problems) {
    problems.push_back("the file was not closed properly: its last " +
                       std::to_string(summary_.bytes - summary_.readable_bytes) + " bytes are no whole event");
  }
  return {};
}

}  // namespace orc::recording::detail
