#include "mcap/mcap_reader.h"

#include "bytes/crc32.h"
#include "files/failure.h"
#include "mcap/mcap_check.h"

namespace orc::recording::detail {

void mcap_reader::forget() {
  summary_ = {};
  summary_.format = "mcap";
  summary_.bytes = file().size();
  channels_.clear();
  metadata_.clear();
  attachments_.clear();
  catalog_.emplace(channels_);
  loader_.emplace(file(), *catalog_);
  read_header(file(), summary_);
}

result mcap_reader::open() {
  forget();
  mcap_contents found{summary_, metadata_, attachments_};
  if (!read_summary(file(), *catalog_, found, no_summary_)) {
    forget();
    found.blocks.clear();
    found.attachment_places.clear();
    scan(file(), *catalog_, *loader_, found);
  }
  summary_.samples_of.resize(channels_.size());
  attachment_places_ = std::move(found.attachment_places);
  set_blocks(std::move(found.blocks));
  return {};
}

result mcap_reader::load(const block& which, block_content& to) {
  auto done = loader_->load(which, to);
  summary_.samples_of.resize(channels_.size());  // a chunk may have described more of them
  return done;
}

sample mcap_reader::sample_at(const block_content& content, const block_entry& entry) const {
  byte_cursor from(content.data.bytes().subspan(entry.offset));
  record found;
  message_record message;
  if (!take_record(from, found) || !parse(found.content, message)) return {};  // load() has checked it
  return {entry.channel, message.sequence,   message.log_time,      message.publish_time,
          message.data,  message.log_excess, message.publish_excess};
}

result mcap_reader::read_attachment(std::size_t index, std::vector<std::byte>& data) {
  if (index >= attachment_places_.size()) {
    return {errc::bad_argument, file().name() + " has no attachment " + std::to_string(index)};
  }
  const attachment_place& place = attachment_places_[index];
  const auto wrong = [&](const char* what) {
    return broken(file().name(), "the attachment at byte " + std::to_string(place.offset) + " " + what);
  };
  if (place.length > max_chunk_bytes) return wrong("has an impossible size");
  byte_buffer bytes;
  bytes.resize(static_cast<std::size_t>(place.length));
  if (auto done = file().read(place.offset, {bytes.data(), bytes.size()}); !done) return done;
  byte_cursor outer(bytes.bytes());
  record found;
  if (!take_record(outer, found) || found.code != opcode::attachment) return wrong("is not there");
  byte_cursor from(found.content);
  attachment_record about;
  if (!parse(from, about)) return wrong("is too short");
  const auto content = from.take(about.size);
  const std::size_t checked = from.at();
  const auto crc = from.number<std::uint32_t>();
  if (from.failed()) return wrong("is too short");
  if (crc != 0 && crc32(found.content.first(checked)) != crc) return wrong("has another checksum than its data");
  data.assign(content.begin(), content.end());
  return {};
}

result mcap_reader::check(std::vector<std::string>& problems) { return check_mcap(file(), no_summary_, problems); }

}  // namespace orc::recording::detail
