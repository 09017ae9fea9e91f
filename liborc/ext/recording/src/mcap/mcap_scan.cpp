#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "files/failure.h"
#include "mcap/mcap_contents.h"

namespace orc::recording::detail {
namespace {

// A run of messages outside of chunks ends here, so that a little is read at once.
constexpr std::uint64_t run_bytes = std::uint64_t{1} << 20;

class scanner {
 public:
  scanner(const input_file& file, mcap_catalog& catalog, mcap_blocks& blocks, mcap_contents& to)
      : file_(file), catalog_(catalog), blocks_(blocks), to_(to), walk_(file, mcap_magic.size()) {}

  void run();

 private:
  void take(const record_place& found);
  void take_declaration(const record_place& found);
  void take_message(const record_place& found);
  void take_chunk(const record_place& found);
  void take_attachment(const record_place& found);
  void leave_out(const char* what, const record_place& found, const std::string& why);
  [[nodiscard]] bool has_magic(std::uint64_t offset) const;
  void end_run();
  void count(channel_id which, std::int64_t time, block& in);
  void finish(block& made);

  const input_file& file_;
  mcap_catalog& catalog_;
  mcap_blocks& blocks_;
  mcap_contents& to_;
  mcap_walk walk_;
  block run_;  // while its length is not 0
  block_content content_;
  byte_buffer record_;
  std::vector<channel_id> seen_;  // in the current block, once each
  std::vector<bool> is_seen_;
  std::set<std::uint16_t> disputed_;  // numbers of channels, of which messages outside of chunks cannot be told apart
};

void scanner::count(channel_id which, std::int64_t time, block& in) {
  const bool is_first = seen_.empty();
  in.first = is_first ? time : std::min(in.first, time);
  in.last = is_first ? time : std::max(in.last, time);
  if (is_seen_.size() <= which) is_seen_.resize(std::size_t{which} + 1);
  if (!is_seen_[which]) {
    is_seen_[which] = true;
    seen_.push_back(which);
  }
  auto& about = to_.about;
  about.first_ns = about.samples == 0 ? time : std::min(about.first_ns, time);
  about.last_ns = about.samples == 0 ? time : std::max(about.last_ns, time);
  ++about.samples;
  if (about.samples_of.size() <= which) about.samples_of.resize(std::size_t{which} + 1);
  ++about.samples_of[which];
}

void scanner::finish(block& made) {
  for (const channel_id which : seen_) is_seen_[which] = false;
  std::sort(seen_.begin(), seen_.end());
  made.channels = std::move(seen_);
  seen_.clear();
  to_.blocks.push_back(std::move(made));
}

void scanner::end_run() {
  if (run_.length == 0) return;
  finish(run_);
  run_ = {};
}

void scanner::leave_out(const char* what, const record_place& found, const std::string& why) {
  to_.about.left_out.add(file_.name() + ": the " + what + " at byte " + std::to_string(found.offset) + " " + why);
}

void scanner::take_message(const record_place& found) {
  message_record message;
  const bool whole = parse(walk_.peek(found, message_head), message);
  if (!walk_.status()) return leave_out("message", found, "cannot be read");
  if (!whole) return leave_out("message", found, "is too short");
  const auto id = catalog_.find(message.channel);
  if (!id) return leave_out("message", found, "is of a channel that is not described");
  if (disputed_.contains(message.channel))
    return leave_out("message", found, "is of a channel that is described twice");
  if (run_.offset + run_.length != found.offset || run_.length + found.length > run_bytes) end_run();
  if (run_.length == 0) run_.offset = found.offset;
  run_.length += found.length;
  count(*id, message.log_time, run_);
}

void scanner::take_chunk(const record_place& found) {
  ++to_.about.chunks;
  block made{.offset = found.offset,
             .length = found.length,
             .last = std::numeric_limits<std::int64_t>::max(),  // any time, until its head says more
             .is_chunk = true};
  chunk_record head;
  std::uint64_t data = 0;
  std::string compression;
  content_.data.clear();
  content_.entries.clear();
  auto done = blocks_.chunk_head(found.offset, found.length, head, data, compression);
  if (done) {
    made.first = head.first;
    made.last = std::max(head.first, head.last);
    ++to_.about.compressions[compression];
    done = blocks_.load(made, content_);
  }
  if (done && content_.entries.empty()) return;
  // A broken chunk stays in the list, without channels, so that who reads learns of it.
  if (done) {
    for (const auto& entry : content_.entries) count(entry.channel, entry.time, made);
  }
  finish(made);
}

void scanner::take_attachment(const record_place& found) {
  attachment_record about;
  bool whole = false;
  // Rarely more than a page; the data behind it may be what the disk cannot read.
  for (const std::size_t bytes : {file_window::page_bytes, file_window::max_bytes}) {
    byte_cursor from(walk_.peek(found, bytes));
    whole = parse(from, about) && about.size <= found.length - record_head - from.at();
    if (whole) break;
  }
  if (!walk_.status()) return leave_out("attachment", found, "cannot be read");
  if (!whole) return leave_out("attachment", found, "is broken");
  to_.attachments.push_back(
      {std::string(about.name), std::string(about.media_type), about.log_time, about.create_time, about.size});
  to_.attachment_places.push_back({found.offset, found.length});
}

void scanner::take_declaration(const record_place& found) {
  const char* const what = found.code == opcode::metadata ? "metadata record"
                           : found.code == opcode::schema ? "schema"
                                                          : "channel";
  if (const auto done = walk_.content(found, record_); !done) {
    to_.about.left_out.add(done.error().message());
  } else if (found.code == opcode::metadata) {
    if (!add_metadata(record_.bytes(), to_.metadata)) leave_out(what, found, "is broken");
  } else if (catalog_.contradicts({found.code, record_.bytes()})) {
    if (found.code == opcode::channel) disputed_.insert(byte_cursor(record_.bytes()).number<std::uint16_t>());
    leave_out(what, found, "is described anew, and differs");
  } else if (const auto why = catalog_.add({found.code, record_.bytes()}); !why.empty()) {
    leave_out(what, found, "cannot be used: " + why);
  }
}

void scanner::take(const record_place& found) {
  switch (found.code) {
    case opcode::message: take_message(found); break;
    case opcode::chunk:
      end_run();
      take_chunk(found);
      break;
    case opcode::attachment: take_attachment(found); break;
    case opcode::schema:
    case opcode::channel:
    case opcode::metadata: take_declaration(found); break;
    default: break;
  }
}

bool scanner::has_magic(std::uint64_t offset) const {
  std::array<std::byte, mcap_magic.size()> there{};
  return file_.size() >= offset + there.size() && file_.read(offset, there) &&
         std::ranges::equal(there, std::as_bytes(std::span(mcap_magic)));
}

void scanner::run() {
  auto& about = to_.about;
  record_place found;
  bool has_footer = false;
  bool in_data = true;
  about.readable_bytes = mcap_magic.size();
  while (!has_footer && walk_.next(found)) {
    if (found.code == opcode::data_end || found.code == opcode::footer) in_data = false;
    has_footer = found.code == opcode::footer;
    about.readable_bytes = walk_.at();
    if (in_data) take(found);
  }
  end_run();
  if (const auto lacking = catalog_.lacks(); !lacking.empty()) about.left_out.add(file_.name() + ": " + lacking);
  // Without its length, nothing says where the next record begins.
  if (!has_footer && !walk_.status()) {
    about.left_out.add(walk_.status().error().message() + ", from byte " + std::to_string(walk_.at()) + " on");
  }
  const std::uint64_t end = walk_.at() + mcap_magic.size();
  about.closed = has_footer && has_magic(walk_.at());
  if (!about.closed) return;
  about.readable_bytes = end;
  if (has_magic(end)) {
    about.left_out.add(file_.name() + ": another MCAP file begins at byte " + std::to_string(end) +
                       ": read it alone (tail -c +" + std::to_string(end + 1) + ")");
  }
}

}  // namespace

void scan(const input_file& file, mcap_catalog& catalog, mcap_blocks& blocks, mcap_contents& to) {
  scanner(file, catalog, blocks, to).run();
}

}  // namespace orc::recording::detail
