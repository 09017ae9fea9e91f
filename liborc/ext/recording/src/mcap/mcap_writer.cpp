#include "mcap/mcap_writer.h"

#include <algorithm>

#include "bytes/crc32.h"
#include "bytes/utf8.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {
namespace {

// From this size on, copying a sample costs more than a chunk of its own.
constexpr std::size_t large_sample = std::size_t{64} << 10;

}  // namespace

mcap_writer::mcap_writer(const mcap_options& options) : options_(options) {
  if (options_.compression != compression::none) compressor_.emplace(options_.compression);
}

mcap_writer::~mcap_writer() { static_cast<void>(close()); }

result mcap_writer::open(const std::string& path) {
  if (options_.chunk_bytes > max_chunk_bytes / 2) {
    return {errc::bad_argument, "chunks of " + std::to_string(options_.chunk_bytes) + " bytes are too large: at most " +
                                    std::to_string(max_chunk_bytes / 2)};
  }
  if (auto done = file_.open(path, options_.overwrite); !done) return done;
  byte_buffer begin;
  begin.put_bytes(std::as_bytes(std::span(mcap_magic)));
  const std::size_t at = begin_record(begin, opcode::header);
  begin.put_string(utf8_of(options_.profile));
  const std::string library = std::string("orc ") + orc::version();
  const bool says_so = options_.copy_of.empty() || options_.copy_of.starts_with(library);
  begin.put_string(says_so ? library : library + ", copy of " + utf8_of(options_.copy_of));
  end_record(begin, at);
  auto done = append({begin.bytes()});
  if (!done) file_.discard();
  return done;
}

result mcap_writer::usable() const {
  if (closed_) return {errc::closed, file_.path() + " is closed"};
  return status_;
}

std::uint64_t mcap_writer::bytes() const noexcept { return file_.size() + (chunk_.has_messages() ? chunk_.size() : 0); }

result mcap_writer::append(std::initializer_list<std::span<const std::byte>> pieces) {
  auto done = file_.append(pieces, index_.summary_size() + indexes_.size());
  synced_ = false;
  if (!done) status_ = done;
  return done;
}

result mcap_writer::sync() {
  if (!options_.sync || synced_) return {};
  auto done = file_.sync();
  synced_ = true;
  if (!done) status_ = done;
  return done;
}

result mcap_writer::add_channel(const channel& added, channel_id& made) {
  if (auto can = usable(); !can) return can;
  if (added.topic.size() > UINT16_MAX || added.type.schema.size() > UINT32_MAX / 2) {
    return {errc::bad_argument,
            "the name or the schema of a topic is too long for a recording: '" + added.topic.substr(0, 64) + "'"};
  }
  channel named{utf8_of(added.topic), added.type, utf8_of(added.metadata)};
  for (std::string* each : {&named.type.name, &named.type.schema_encoding, &named.type.message_encoding})
    *each = utf8_of(*each);
  if (!index_.add_channel(named, made, chunk_.records())) {
    return {errc::bad_argument,
            file_.path() + " has " + std::to_string(max_channels) + " channels, and no place for more"};
  }
  return {};
}

bool mcap_writer::belongs_to_next(const sample& s) const noexcept {
  if (!chunk_.has_messages()) return false;
  if (chunk_.size() + record_head + message_head + s.data.size() > options_.chunk_bytes) return true;
  // Also when the clock was set back.
  const std::uint64_t at = to_mcap_time(s.received_ns) + s.received_excess_ns;
  return std::max(at, chunk_.first()) - std::min(at, chunk_.first()) >= static_cast<std::uint64_t>(options_.chunk_ns);
}

result mcap_writer::write(const sample& s) {
  if (auto can = usable(); !can) return can;
  if (s.channel >= index_.channels()) {
    return {errc::bad_argument, "there is no channel " + std::to_string(s.channel) + " in " + file_.path()};
  }
  if (s.data.size() > max_chunk_bytes / 2) {
    return {errc::bad_argument, "a sample of " + std::to_string(s.data.size()) + " bytes is too large for a recording"};
  }
  if (!compressor_ && s.data.size() >= large_sample) return write_large(s);
  if (belongs_to_next(s)) {
    if (auto done = write_chunk({}); !done) return done;
  }
  chunk_.add(s);
  if (chunk_.records().size() >= options_.chunk_bytes) return write_chunk({});
  return {};
}

result mcap_writer::write_large(const sample& s) {
  if (chunk_.has_messages()) {
    if (auto done = write_chunk({}); !done) return done;
  }
  chunk_.add_head(s);
  return write_chunk(s.data);
}

void mcap_writer::put_chunk_head(std::uint64_t records, std::uint64_t compressed, std::uint32_t crc,
                                 std::string_view compression) {
  head_.clear();
  const std::size_t at = begin_record(head_, opcode::chunk);
  head_.put(chunk_.first());
  head_.put(chunk_.last());
  head_.put(records);
  head_.put(crc);
  head_.put_string(compression);
  head_.put(compressed);
  head_.put_at(at + 1, head_.size() - at - record_head + compressed);
}

result mcap_writer::write_chunk(std::span<const std::byte> tail) {
  const auto records = chunk_.records().bytes();
  const std::uint32_t crc = crc32(tail, crc32(records));
  auto stored = records;
  auto kept_as = compression::none;
  if (compressor_) {
    if (auto done = compressor_->compress(records, compressed_); !done) return done;
    // Readers, such as ours, take what is compressed too well for an attack.
    if (records.size() <= most_decompressed(compressed_.size())) {
      stored = compressed_.bytes();
      kept_as = options_.compression;
    }
  }
  const std::uint64_t uncompressed = records.size() + tail.size();
  const std::uint64_t size = stored.size() + tail.size();
  put_chunk_head(uncompressed, size, crc, name_of(kept_as));

  const std::uint64_t offset = file_.size();
  const std::uint64_t length = head_.size() + size;
  indexes_.clear();
  index_at_.clear();
  for (const channel_id which : chunk_.channels()) {
    index_at_.push_back(offset + length + indexes_.size());
    chunk_.put_index(which, indexes_);
  }
  auto done = append({head_.bytes(), stored, tail, indexes_.bytes()});
  if (done) {
    index_.add_chunk(chunk_, {offset, length, indexes_.size(), size, uncompressed, name_of(kept_as)}, index_at_);
    done = sync();
  }
  chunk_.clear();
  return done;
}

result mcap_writer::add_metadata(std::string_view name, const std::map<std::string, std::string>& entries) {
  if (auto can = usable(); !can) return can;
  const std::string text = utf8_of(name);
  byte_buffer made;
  const std::size_t at = begin_record(made, opcode::metadata);
  made.put_string(text);
  put_text_map(made, utf8_of(entries));
  end_record(made, at);
  const std::uint64_t offset = file_.size();
  auto done = append({made.bytes()});
  if (done) index_.add_metadata(offset, made.size(), text);
  return done;
}

result mcap_writer::add_attachment(const attachment& about, std::span<const std::byte> data) {
  if (auto can = usable(); !can) return can;
  const attachment named{utf8_of(about.name), utf8_of(about.media_type), about.log_time_ns, about.create_time_ns,
                         data.size()};
  byte_buffer made;
  const std::size_t at = begin_record(made, opcode::attachment);
  made.put(named.log_time_ns);
  made.put(named.create_time_ns);
  made.put_string(named.name);
  made.put_string(named.media_type);
  made.put(named.size);
  const std::uint64_t length = made.size() - at + data.size() + 4;
  made.put_at(at + 1, length - record_head);
  byte_buffer end;
  end.put(crc32(data, crc32(made.bytes().subspan(at + record_head))));
  const std::uint64_t offset = file_.size();
  auto done = append({made.bytes(), data, end.bytes()});
  if (done) index_.add_attachment(offset, length, named);
  return done;
}

result mcap_writer::flush() {
  if (auto can = usable(); !can) return can;
  return chunk_.has_messages() ? write_chunk({}) : sync();
}

result mcap_writer::close() {
  if (closed_) return {errc::closed, file_.path() + " is closed"};
  closed_ = true;
  if (!file_.is_open()) return status_;
  if (status_ && chunk_.has_messages()) static_cast<void>(write_chunk({}));
  // Channels without a sample so far were declared for the chunk that did not come.
  byte_buffer end;
  if (status_) end.put_bytes(chunk_.records().bytes());
  const std::size_t at = begin_record(end, opcode::data_end);
  end.put(std::uint32_t{0});  // no checksum of all: each chunk has its own, and a second pass would cost as much again
  end_record(end, at);
  index_.put_summary(file_.size() + end.size(), end);
  // The space for this was reserved with the last piece. An error before is what the caller should know, not this one.
  auto done = file_.append({end.bytes()});
  if (done && options_.sync) done = file_.sync();
  auto ended = file_.close();
  if (!status_) return status_;
  return done ? ended : done;
}

}  // namespace orc::recording::detail

namespace orc::recording {

result create_mcap(const std::string& path, const mcap_options& options, std::unique_ptr<writer>& made, bool* full) {
  auto opened = std::make_unique<detail::mcap_writer>(options);
  auto done = opened->open(path);
  if (full != nullptr) *full = opened->is_full();
  if (!done) return done;
  made = std::move(opened);
  return {};
}

}  // namespace orc::recording
