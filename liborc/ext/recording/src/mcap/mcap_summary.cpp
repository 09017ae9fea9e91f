// Reads the summary section.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "bytes/crc32.h"
#include "mcap/mcap_contents.h"

namespace orc::recording::detail {
namespace {

constexpr std::uint64_t max_summary = std::uint64_t{1} << 30;
constexpr std::uint64_t end_size = record_head + footer_size + mcap_magic.size();

class summary_reader {
 public:
  summary_reader(const input_file& file, mcap_catalog& catalog, mcap_contents& to)
      : file_(file), catalog_(catalog), to_(to) {}

  bool run();
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }
  // Nothing is broken, but the index is not complete.
  static bool lack() noexcept { return false; }
  bool read_section();
  bool take(const record& found);
  bool take_chunk(std::span<const std::byte> content);
  bool take_attachment(std::span<const std::byte> content);
  bool take_metadata(std::span<const std::byte> content);
  bool is_complete();
  [[nodiscard]] bool has_more_messages() const;
  bool has_place(std::uint64_t offset, std::uint64_t length) const noexcept {
    return length >= record_head && offset >= mcap_magic.size() && offset <= start_ && length <= start_ - offset;
  }

  const input_file& file_;
  mcap_catalog& catalog_;
  mcap_contents& to_;
  std::string why_;
  byte_buffer section_;
  std::uint64_t start_ = 0;
  std::optional<statistics_record> statistics_;
  std::size_t chunks_ = 0;
  std::uint64_t metadata_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> indexed_;  // where what has an index begins and ends
};

bool summary_reader::read_section() {
  if (file_.size() < mcap_magic.size() + end_size) return fail("the end is missing");
  std::array<std::byte, end_size> end{};
  if (!file_.read(file_.size() - end_size, end)) return fail("the end cannot be read");
  byte_cursor from(end);
  const auto code = static_cast<opcode>(from.number<std::uint8_t>());
  const auto length = from.number<std::uint64_t>();
  start_ = from.number<std::uint64_t>();
  from.number<std::uint64_t>();
  const auto crc = from.number<std::uint32_t>();
  if (code != opcode::footer || length != footer_size ||
      !std::ranges::equal(std::span(end).last(mcap_magic.size()), std::as_bytes(std::span(mcap_magic)))) {
    return fail("the end is missing");
  }
  if (start_ == 0) return lack();
  const std::uint64_t footer = file_.size() - end_size;
  if (start_ < mcap_magic.size() || start_ > footer || footer - start_ > max_summary) {
    return fail("the summary has an impossible place");
  }
  // With the footer up to its checksum, which that includes.
  section_.resize(static_cast<std::size_t>(footer - start_ + record_head + 16));
  if (!file_.read(start_, {section_.data(), section_.size()})) return fail("the summary cannot be read");
  if (crc != 0 && crc32(section_.bytes()) != crc) return fail("the summary has another checksum than its data");
  section_.resize(static_cast<std::size_t>(footer - start_));
  return true;
}

bool summary_reader::take_chunk(std::span<const std::byte> content) {
  byte_cursor from(content);
  block made{.is_chunk = true};
  made.first = from_mcap_time(from.number<std::uint64_t>());
  made.last = from_mcap_time(from.number<std::uint64_t>());
  made.offset = from.number<std::uint64_t>();
  made.length = from.number<std::uint64_t>();
  byte_cursor indexes = from.nested();
  const auto index_length = from.number<std::uint64_t>();
  const auto compression = from.text();
  if (from.failed() || !has_place(made.offset, made.length)) return fail("a chunk has an impossible place");
  indexed_[made.offset] = made.offset + made.length + std::min(index_length, start_);
  ++chunks_;
  ++to_.about.compressions[std::string(compression)];
  while (indexes.left() > 0) {
    const auto id = catalog_.find(indexes.number<std::uint16_t>());
    indexes.number<std::uint64_t>();
    if (indexes.failed()) return fail("a chunk's index is broken");
    if (!id) return lack();  // the summary need not repeat channels
    made.channels.push_back(*id);
  }
  if (made.channels.empty()) {
    // A chunk of declarations alone has no samples to look for; any other one has them anywhere.
    return (made.first == 0 && made.last == 0) || lack();
  }
  std::sort(made.channels.begin(), made.channels.end());
  made.channels.erase(std::unique(made.channels.begin(), made.channels.end()), made.channels.end());
  to_.blocks.push_back(std::move(made));
  return true;
}

bool summary_reader::take_attachment(std::span<const std::byte> content) {
  byte_cursor from(content);
  attachment_place place;
  place.offset = from.number<std::uint64_t>();
  place.length = from.number<std::uint64_t>();
  attachment made;
  made.log_time_ns = from.number<std::uint64_t>();
  made.create_time_ns = from.number<std::uint64_t>();
  made.size = from.number<std::uint64_t>();
  made.name = from.text();
  made.media_type = from.text();
  if (from.failed() || !has_place(place.offset, place.length) || made.size > place.length) {
    return fail("an attachment has an impossible place");
  }
  indexed_[place.offset] = place.offset + place.length;
  to_.attachments.push_back(std::move(made));
  to_.attachment_places.push_back(place);
  return true;
}

bool summary_reader::take_metadata(std::span<const std::byte> content) {
  byte_cursor from(content);
  const auto offset = from.number<std::uint64_t>();
  const auto length = from.number<std::uint64_t>();
  // An index that names one record many times must not make it need many times the memory.
  if (from.failed() || !has_place(offset, length) || length > file_.size() - metadata_bytes_) {
    return fail("a metadata record has an impossible place");
  }
  metadata_bytes_ += length;
  indexed_[offset] = offset + length;
  // The record alone: a recording can have many of them, far from each other.
  byte_buffer bytes;
  bytes.resize(static_cast<std::size_t>(length));
  if (!file_.read(offset, {bytes.data(), bytes.size()})) return fail("a metadata record cannot be read");
  byte_cursor record_bytes(bytes.bytes());
  record found;
  if (!take_record(record_bytes, found) || record_bytes.left() != 0 || found.code != opcode::metadata ||
      !add_metadata(found.content, to_.metadata)) {
    return fail("a metadata record is not where the index says");
  }
  return true;
}

bool summary_reader::take(const record& found) {
  switch (found.code) {
    case opcode::schema:
    case opcode::channel: {
      const auto problem = catalog_.add(found);
      return problem.empty() || fail(problem);
    }
    case opcode::chunk_index: return take_chunk(found.content);
    case opcode::attachment_index: return take_attachment(found.content);
    case opcode::metadata_index: return take_metadata(found.content);
    case opcode::statistics:
      statistics_.emplace();
      return parse(found.content, *statistics_) || fail("the statistics are broken");
    default: return true;
  }
}

// Whether there may be messages that no index names: outside of chunks, or in chunks without an index.
bool summary_reader::has_more_messages() const {
  mcap_walk walk(file_, mcap_magic.size());
  record_place found;
  while (walk.at() < start_) {
    if (const auto known = indexed_.find(walk.at()); known != indexed_.end()) {
      walk.jump(known->second);
    } else if (!walk.next(found) || found.code == opcode::message || found.code == opcode::chunk) {
      return true;
    } else if (found.code == opcode::data_end) {
      return false;
    }
  }
  return false;
}

bool summary_reader::is_complete() {
  if (!statistics_ || !catalog_.lacks().empty()) return lack();
  const statistics_record& s = *statistics_;
  // Each kind of index may be left out, but not a part of one.
  const std::array<std::pair<std::uint64_t, std::size_t>, 3> counts = {
      {{s.chunks, chunks_}, {s.metadata, to_.metadata.size()}, {s.attachments, to_.attachments.size()}}};
  for (const auto& [counted, indexed] : counts) {
    if (counted != indexed && indexed != 0) return fail("the summary has not all that its statistics count");
  }
  for (const auto& [counted, indexed] : counts)
    if (counted != indexed) return lack();
  if (s.messages > 0 && (to_.blocks.empty() || s.counts.empty())) return lack();
  // Each place once: an index that names one chunk many times would make it cost many times.
  auto by_offset = to_.blocks;
  std::sort(by_offset.begin(), by_offset.end(), [](const block& a, const block& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    if (by_offset[i - 1].offset + by_offset[i - 1].length > by_offset[i].offset) return fail("two chunks overlap");
  }
  std::vector<bool> indexed(max_channels);
  for (const auto& each : to_.blocks)
    for (const channel_id which : each.channels) indexed[which] = true;
  std::uint64_t counted = 0;
  auto& about = to_.about;
  for (const auto& [number, count] : s.counts) {
    const auto id = catalog_.find(number);
    if (!id) return lack();
    if (count != 0 && !indexed[*id]) return lack();
    counted += count;
    if (about.samples_of.size() <= *id) about.samples_of.resize(std::size_t{*id} + 1);
    about.samples_of[*id] += count;
  }
  if (counted != s.messages || has_more_messages()) return lack();
  about.samples = s.messages;
  about.first_ns = s.first;
  about.last_ns = s.last;
  about.chunks = chunks_;
  about.readable_bytes = file_.size();
  about.closed = true;
  return true;
}

bool summary_reader::run() {
  if (!read_section()) return false;
  // The format does not say which group comes first: schemas, then channels, then what needs them.
  const auto pass_of = [](opcode code) { return code == opcode::schema ? 0 : code == opcode::channel ? 1 : 2; };
  for (int pass = 0; pass < 3; ++pass) {
    byte_cursor from(section_.bytes());
    while (from.left() > 0) {
      record found;
      if (!take_record(from, found)) return fail("a record of the summary is longer than that");
      if (pass_of(found.code) == pass && !take(found)) return false;
    }
  }
  return is_complete();
}

}  // namespace

bool read_summary(const input_file& file, mcap_catalog& catalog, mcap_contents& to, std::string& why) {
  summary_reader reader(file, catalog, to);
  const bool done = reader.run();
  why = reader.why();
  return done;
}

}  // namespace orc::recording::detail
