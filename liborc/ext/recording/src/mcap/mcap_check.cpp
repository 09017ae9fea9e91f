#include "mcap/mcap_check.h"

#include <algorithm>
#include <map>

#include "bytes/crc32.h"
#include "mcap/mcap_blocks.h"
#include "mcap/mcap_catalog.h"
#include "mcap/mcap_claims.h"
#include "mcap/mcap_contents.h"

namespace orc::recording::detail {
namespace {

class checker {
 public:
  checker(const input_file& file, std::vector<std::string>& problems)
      : file_(file),
        problems_(problems),
        catalog_(channels_),
        blocks_(file, catalog_),
        walk_(file, mcap_magic.size()),
        claims_(facts_, channels_, catalog_) {}

  result run(const std::string& no_summary);

 private:
  void note(std::string problem) {
    if (problems_.size() < max_problems) problems_.push_back(std::move(problem));
  }
  void note_at(const std::string& what, std::uint64_t offset, const std::string& problem) {
    note(what + " at byte " + std::to_string(offset) + " " + problem);
  }
  void take(const record_place& found);
  void take_message(const record_place& found);
  void take_small(const record_place& found);
  void take_chunk(const record_place& found);
  void take_attachment(const record_place& found, std::span<const std::byte> content);
  void take_index(const record_place& found, std::span<const std::byte> content);
  void take_metadata(const record_place& found, std::span<const std::byte> content);
  void take_claim(const record_place& found);
  void end_indexes();
  void compare_with_summary();

  const input_file& file_;
  std::vector<std::string>& problems_;
  std::vector<channel> channels_;
  mcap_catalog catalog_;
  mcap_blocks blocks_;
  mcap_walk walk_;
  block_content content_;
  byte_buffer record_;

  struct index_entry {
    std::int64_t time;
    std::uint64_t offset;
    auto operator<=>(const index_entry&) const = default;
  };
  std::uint64_t chunk_ = 0;                                  // the last one's offset
  std::map<channel_id, std::vector<index_entry>> expected_;  // its message indexes that have not come yet
  mcap_facts facts_;
  mcap_claims claims_;
  bool whole_ = true;  // each record could be read
};

// The chunk's own claims, and what must follow it.
void checker::take_chunk(const record_place& found) {
  end_indexes();
  chunk_ = found.offset;
  block made{.offset = found.offset, .length = found.length, .is_chunk = true};
  content_.data.clear();
  content_.entries.clear();
  chunk_record head;
  std::uint64_t data = 0;
  std::string compression;
  auto done = blocks_.chunk_head(found.offset, found.length, head, data, compression);
  if (done) done = blocks_.load(made, content_);
  if (!done) {
    whole_ = false;
    note(done.error().message());
    return;
  }
  if (found.says_other || head.says_more)
    note_at("the chunk", found.offset, "is a record of another length than its content");
  if (content_.data.size() != head.uncompressed) {
    note_at("the chunk", found.offset,
            "has " + std::to_string(content_.data.size()) + " bytes of messages instead of " +
                std::to_string(head.uncompressed));
  }
  auto& fact = facts_.chunks[found.offset];
  fact.length = found.length;
  fact.compression = compression;
  fact.size = head.size;
  fact.uncompressed = head.uncompressed;
  if (content_.entries.empty()) return;
  fact.first = fact.last = content_.entries.front().time;
  for (const auto& entry : content_.entries) {
    fact.first = std::min(fact.first, entry.time);
    fact.last = std::max(fact.last, entry.time);
    expected_[entry.channel].push_back({entry.time, entry.offset});
    facts_.count(entry.channel, entry.time);
  }
  for (const auto& [which, entries] : expected_) fact.channels.push_back(which);
  if (fact.first != head.first || fact.last != head.last) {
    note_at("the chunk", found.offset, "has other times than its messages");
  }
}

void checker::take_index(const record_place& found, std::span<const std::byte> content) {
  byte_cursor from(content);
  const auto number = from.number<std::uint16_t>();
  byte_cursor entries = from.nested();
  std::vector<index_entry> has;
  while (!from.failed() && entries.left() > 0) {
    const auto time = from_mcap_time(entries.number<std::uint64_t>());
    const auto offset = entries.number<std::uint64_t>();
    if (entries.failed()) break;
    has.push_back({time, offset});
  }
  if (const auto chunk = facts_.chunks.find(chunk_); chunk != facts_.chunks.end()) {
    chunk->second.indexes[number] = found.offset;
    chunk->second.index_length += found.length;
  }
  const auto id = catalog_.find(number);
  const auto expected = id ? expected_.find(*id) : expected_.end();
  if (expected == expected_.end()) {
    // Some writers index all their channels after each chunk.
    if (!has.empty()) note_at("the message index", found.offset, "has messages that the chunk before it has not");
    return;
  }
  std::sort(has.begin(), has.end());
  std::sort(expected->second.begin(), expected->second.end());
  if (has != expected->second) note_at("the message index", found.offset, "differs from the chunk before it");
  expected_.erase(expected);
}

void checker::end_indexes() {
  // Without any, the writer makes no message indexes.
  const auto chunk = facts_.chunks.find(chunk_);
  if (!expected_.empty() && chunk != facts_.chunks.end() && !chunk->second.indexes.empty()) {
    note_at("the chunk", chunk_, "has no message index of " + std::to_string(expected_.size()) + " of its channels");
  }
  expected_.clear();
}

void checker::take_attachment(const record_place& found, std::span<const std::byte> content) {
  byte_cursor from(content);
  attachment_record about;
  const bool has_head = parse(from, about);
  facts_.attachments[found.offset] = {found.length, about.log_time,          about.create_time,
                                      about.size,   std::string(about.name), std::string(about.media_type)};
  from.take(about.size);
  const std::size_t checked = from.at();
  const auto crc = from.number<std::uint32_t>();
  if (!has_head || from.failed()) {
    note_at("the attachment", found.offset, "is too short");
  } else if (crc != 0 && crc32(content.first(checked)) != crc) {
    note_at("the attachment", found.offset, "has another checksum than its data");
  }
}

void checker::take_message(const record_place& found) {
  message_record message;
  const auto id = parse(walk_.peek(found, message_head), message) ? catalog_.find(message.channel) : std::nullopt;
  if (!id) {
    whole_ = false;
    note_at("the message", found.offset, "is too short, or of a channel that is not described");
    return;
  }
  facts_.count(*id, message.log_time);
}

void checker::take_metadata(const record_place& found, std::span<const std::byte> content) {
  std::vector<named_metadata> entries;
  if (!add_metadata(content, entries)) return note_at("the metadata record", found.offset, "is broken");
  facts_.metadata_records[found.offset] = {found.length, entries.front().name};
}

// A record of the summary section.
void checker::take_claim(const record_place& found) {
  if (walk_.content(found, record_)) claims_.take(found, record_.bytes());
}

// A record that is read whole.
void checker::take_small(const record_place& found) {
  if (const auto done = walk_.content(found, record_); !done) {
    whole_ = false;
    note(done.error().message());
    return;
  }
  const auto content = record_.bytes();
  if (found.code == opcode::message_index) {
    take_index(found, content);
  } else if (found.code == opcode::attachment) {
    take_attachment(found, content);
  } else if (found.code == opcode::metadata) {
    take_metadata(found, content);
  } else if (const auto problem = catalog_.add({found.code, content}); !problem.empty()) {
    note(problem + " (byte " + std::to_string(found.offset) + ")");
  }
}

void checker::take(const record_place& found) {
  switch (found.code) {
    case opcode::chunk: return take_chunk(found);
    case opcode::message_index: return take_small(found);
    case opcode::message: end_indexes(); return take_message(found);
    case opcode::attachment:
    case opcode::metadata:
    case opcode::schema:
    case opcode::channel: end_indexes(); return take_small(found);
    default: return;
  }
}

void checker::compare_with_summary() {
  recording::summary about;
  std::vector<channel> channels;
  std::vector<named_metadata> metadata;
  std::vector<attachment> attachments;
  mcap_catalog catalog(channels);
  mcap_contents claims{about, metadata, attachments};
  std::string why;
  const bool complete = read_summary(file_, catalog, claims, why);
  // Said already; and what is broken is missing here, and not there.
  if ((!complete && !why.empty()) || !whole_) return;
  for (const auto& problem : claims_.end()) note(problem);
  if (!complete) return;
  for (const auto& c : channels_) {
    if (std::find(channels.begin(), channels.end(), c) == channels.end()) {
      note("the summary does not have channel " + c.topic + " as it is in the data");
    }
  }
}

result checker::run(const std::string& no_summary) {
  record_place found;
  bool first = true;
  bool in_data = true;
  bool has_footer = false;
  while (!has_footer && walk_.next(found)) {
    if (first && found.code != opcode::header) note("the file does not begin with a header record");
    first = false;
    if (found.code == opcode::data_end || found.code == opcode::footer) {
      in_data = false;
    } else if (in_data) {
      take(found);
    } else {
      take_claim(found);
    }
    has_footer = found.code == opcode::footer;
  }
  end_indexes();
  if (const auto lacking = catalog_.lacks(); !lacking.empty()) note(lacking);
  if (!has_footer && !walk_.status()) return walk_.status();
  if (!has_footer) {
    const std::uint64_t rest = file_.size() - walk_.at();
    note("the file was not closed properly: it has no index" +
         (rest == 0 ? "" : ", and its last " + std::to_string(rest) + " bytes are no whole record"));
  } else if (!no_summary.empty()) {
    note(no_summary);
  }
  compare_with_summary();
  return {};
}

}  // namespace

result check_mcap(const input_file& file, const std::string& no_summary, std::vector<std::string>& problems) {
  return checker(file, problems).run(no_summary);
}

}  // namespace orc::recording::detail
