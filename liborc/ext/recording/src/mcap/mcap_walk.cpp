#include <algorithm>

#include "files/failure.h"
#include "mcap/mcap_contents.h"

namespace orc::recording::detail {

bool mcap_walk::begins_record(std::uint64_t offset) {
  byte_cursor from(window_.at(offset, record_head));
  const auto code = from.number<std::uint8_t>();
  const auto content = from.number<std::uint64_t>();
  return !from.failed() && code != 0 && content <= file_.size() - offset - record_head;
}

// A chunk says its length twice: the record's counts unless it cannot be right.
std::uint64_t mcap_walk::length_of_chunk(std::uint64_t offset, std::uint64_t claimed) {
  byte_cursor from(window_.at(offset, chunk_fixed + 4 + longest_compression + 8));
  chunk_record head;
  const std::uint64_t rest = file_.size() - offset;
  if (!parse(from, head) || head.size > rest - from.at()) return claimed;
  const std::uint64_t length = from.at() + head.size;
  const bool is_possible = claimed >= length && claimed <= rest;
  return claimed == length || (is_possible && begins_record(offset + claimed)) ? claimed : length;
}

bool mcap_walk::next(record_place& found) {
  const auto head = window_.at(at_, record_head);
  if (head.size() < record_head) return false;
  byte_cursor from(head);
  found.code = static_cast<opcode>(from.number<std::uint8_t>());
  auto content = from.number<std::uint64_t>();
  found.says_other = false;
  if (found.code == opcode::chunk) {
    const std::uint64_t length = length_of_chunk(at_ + record_head, content);
    found.says_other = length != content;
    content = length;
  }
  // No record has opcode 0: this is where the blocks of a file were never written.
  if (found.code == opcode{} || content > file_.size() - at_ - record_head) return false;
  found.offset = at_;
  found.length = record_head + content;
  at_ += found.length;
  return true;
}

std::span<const std::byte> mcap_walk::peek(const record_place& of, std::size_t bytes) {
  const auto wanted = std::min<std::uint64_t>(bytes, of.length - record_head);
  return window_.at(of.offset + record_head, static_cast<std::size_t>(wanted));
}

result mcap_walk::content(const record_place& of, byte_buffer& to) const {
  if (of.length > max_chunk_bytes) {
    return broken(file_.name(), "the record at byte " + std::to_string(of.offset) + " has an impossible size");
  }
  to.resize(static_cast<std::size_t>(of.length - record_head));
  return file_.read(of.offset + record_head, {to.data(), to.size()});
}

void read_header(const input_file& file, recording::summary& about) {
  mcap_walk walk(file, mcap_magic.size());
  record_place found;
  if (!walk.next(found) || found.code != opcode::header) return;
  byte_cursor from(walk.peek(found, file_window::max_bytes));
  const auto profile = from.text();
  const auto library = from.text();
  if (from.failed()) return;
  about.profile = profile;
  about.library = library;
}

bool add_metadata(std::span<const std::byte> content, std::vector<named_metadata>& to) {
  byte_cursor from(content);
  named_metadata made;
  made.name = from.text();
  if (from.failed() || !parse_text_map(from, made.entries)) return false;
  to.push_back(std::move(made));
  return true;
}

}  // namespace orc::recording::detail
