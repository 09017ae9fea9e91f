#include "mcap/mcap_index.h"

#include <algorithm>
#include <array>

#include "bytes/crc32.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {

std::uint16_t mcap_index::schema_of(const type_description& type, byte_buffer& declarations) {
  if (type.name.empty() && type.schema_encoding.empty() && type.schema.empty()) return 0;
  const auto next = static_cast<std::uint16_t>(schema_ids_.size() + 1);
  const auto [found, is_new] = schema_ids_.try_emplace({type.name, type.schema_encoding, type.schema}, next);
  if (is_new) {
    put_schema(declarations, next, type.name, type.schema_encoding, type.schema);
    put_schema(schemas_, next, type.name, type.schema_encoding, type.schema);
  }
  return found->second;
}

bool mcap_index::add_channel(const channel& added, channel_id& made, byte_buffer& declarations) {
  // A channel brings one schema at most, so these do not run out before.
  static_assert(max_channels <= max_schema_records);
  if (counts_.size() >= max_channels) return false;
  made = static_cast<channel_id>(counts_.size());
  const std::uint16_t schema = schema_of(added.type, declarations);
  put_channel(declarations, number_in_file(made), schema, added);
  put_channel(channels_, number_in_file(made), schema, added);
  counts_.push_back(0);
  return true;
}

void mcap_index::add_chunk(const mcap_chunk& chunk, const chunk_place& place, std::span<const std::uint64_t> index_at) {
  const std::size_t at = begin_record(chunks_, opcode::chunk_index);
  chunks_.put(chunk.first());
  chunks_.put(chunk.last());
  chunks_.put(place.offset);
  chunks_.put(place.length);
  chunks_.put(static_cast<std::uint32_t>(index_at.size() * 10));
  for (std::size_t i = 0; i < index_at.size(); ++i) {
    chunks_.put(number_in_file(chunk.channels()[i]));
    chunks_.put(index_at[i]);
  }
  chunks_.put(place.index_length);
  chunks_.put_string(place.compression);
  chunks_.put(place.compressed);
  chunks_.put(place.uncompressed);
  end_record(chunks_, at);

  first_ = chunk_count_ == 0 ? chunk.first() : std::min(first_, chunk.first());
  last_ = chunk_count_ == 0 ? chunk.last() : std::max(last_, chunk.last());
  ++chunk_count_;
  for (const channel_id which : chunk.channels()) {
    counts_[which] += chunk.count_of(which);
    messages_ += chunk.count_of(which);
  }
}

void mcap_index::add_metadata(std::uint64_t offset, std::uint64_t length, std::string_view name) {
  const std::size_t at = begin_record(metadata_, opcode::metadata_index);
  metadata_.put(offset);
  metadata_.put(length);
  metadata_.put_string(name);
  end_record(metadata_, at);
  ++metadata_count_;
}

void mcap_index::add_attachment(std::uint64_t offset, std::uint64_t length, const attachment& about) {
  const std::size_t at = begin_record(attachments_, opcode::attachment_index);
  attachments_.put(offset);
  attachments_.put(length);
  attachments_.put(about.log_time_ns);
  attachments_.put(about.create_time_ns);
  attachments_.put(about.size);
  attachments_.put_string(about.name);
  attachments_.put_string(about.media_type);
  end_record(attachments_, at);
  ++attachment_count_;
}

std::uint64_t mcap_index::summary_size() const noexcept {
  constexpr std::uint64_t fixed = 512;  // statistics, offsets, footer, magic
  return schemas_.size() + channels_.size() + chunks_.size() + attachments_.size() + metadata_.size() +
         counts_.size() * 10 + fixed;
}

void mcap_index::put_statistics(byte_buffer& to) const {
  const std::size_t at = begin_record(to, opcode::statistics);
  to.put(messages_);
  to.put(static_cast<std::uint16_t>(schema_ids_.size()));
  to.put(static_cast<std::uint32_t>(counts_.size()));
  to.put(attachment_count_);
  to.put(metadata_count_);
  to.put(chunk_count_);
  to.put(first_);
  to.put(last_);
  const std::size_t map = to.size();
  to.put(std::uint32_t{0});
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    to.put(number_in_file(static_cast<channel_id>(i)));
    to.put(counts_[i]);
  }
  to.put_at(map, static_cast<std::uint32_t>(to.size() - map - 4));
  end_record(to, at);
}

void mcap_index::put_summary(std::uint64_t offset, byte_buffer& to) const {
  struct group {
    opcode code;
    std::uint64_t start;
    std::uint64_t length;
  };
  std::array<group, 6> groups{};
  std::size_t count = 0;
  const std::size_t start = to.size();
  const auto begin = [&](opcode code) { groups.at(count) = {code, to.size(), 0}; };
  const auto end = [&] {
    groups.at(count).length = to.size() - groups.at(count).start;
    groups.at(count).start += offset - start;
    if (groups.at(count).length > 0) ++count;
  };
  const auto put_group = [&](opcode code, const byte_buffer& records) {
    begin(code);
    to.put_bytes(records.bytes());
    end();
  };
  put_group(opcode::schema, schemas_);
  put_group(opcode::channel, channels_);
  begin(opcode::statistics);
  put_statistics(to);
  end();
  put_group(opcode::chunk_index, chunks_);
  put_group(opcode::attachment_index, attachments_);
  put_group(opcode::metadata_index, metadata_);

  const std::uint64_t offsets_start = offset + (to.size() - start);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = begin_record(to, opcode::summary_offset);
    to.put(static_cast<std::uint8_t>(groups.at(i).code));
    to.put(groups.at(i).start);
    to.put(groups.at(i).length);
    end_record(to, at);
  }
  to.put(static_cast<std::uint8_t>(opcode::footer));
  to.put(std::uint64_t{footer_size});  // now, not at the end: the checksum includes it
  to.put(offset);
  to.put(offsets_start);
  to.put(crc32(to.bytes().subspan(start)));
  to.put_bytes(std::as_bytes(std::span(mcap_magic)));
}

}  // namespace orc::recording::detail
