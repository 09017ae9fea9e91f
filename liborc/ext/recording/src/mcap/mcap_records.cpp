#include "mcap/mcap_records.h"

namespace orc::recording::detail {
void put_text_map(byte_buffer& to, const std::map<std::string, std::string>& entries) {
  const std::size_t at = to.size();
  to.put(std::uint32_t{0});
  for (const auto& [key, value] : entries) {
    to.put_string(key);
    to.put_string(value);
  }
  to.put_at(at, static_cast<std::uint32_t>(to.size() - at - 4));
}

void put_schema(byte_buffer& to, std::uint16_t id, std::string_view name, std::string_view encoding,
                std::string_view schema) {
  const std::size_t at = begin_record(to, opcode::schema);
  to.put(id);
  to.put_string(name);
  to.put_string(encoding);
  to.put_string(schema);
  end_record(to, at);
}

void put_channel(byte_buffer& to, std::uint16_t id, std::uint16_t schema_id, const channel& about) {
  const std::size_t at = begin_record(to, opcode::channel);
  to.put(id);
  to.put(schema_id);
  to.put_string(about.topic);
  to.put_string(about.type.message_encoding);
  put_text_map(to, about.metadata);
  end_record(to, at);
}

bool take_record(byte_cursor& from, record& found) noexcept {
  if (from.left() < record_head) return false;
  found.code = static_cast<opcode>(from.number<std::uint8_t>());
  found.content = from.take(from.number<std::uint64_t>());
  return !from.failed();
}

bool parse(std::span<const std::byte> content, schema_record& to) noexcept {
  byte_cursor from(content);
  to.id = from.number<std::uint16_t>();
  to.name = from.text();
  to.encoding = from.text();
  to.schema = from.text();
  return !from.failed();
}

bool parse_text_map(byte_cursor& from, std::map<std::string, std::string>& to) {
  byte_cursor entries = from.nested();
  while (!from.failed() && entries.left() > 0) {
    const auto key = entries.text();
    const auto value = entries.text();
    if (entries.failed()) return false;
    to.insert_or_assign(std::string(key), std::string(value));
  }
  return !from.failed();
}

bool parse(std::span<const std::byte> content, channel_record& to) {
  byte_cursor from(content);
  to.id = from.number<std::uint16_t>();
  to.schema_id = from.number<std::uint16_t>();
  to.topic = from.text();
  to.message_encoding = from.text();
  to.metadata.clear();
  return !from.failed() && parse_text_map(from, to.metadata);
}

bool parse(std::span<const std::byte> content, message_record& to) noexcept {
  byte_cursor from(content);
  to.channel = from.number<std::uint16_t>();
  to.sequence = from.number<std::uint32_t>();
  const auto log_time = from.number<std::uint64_t>();
  const auto publish_time = from.number<std::uint64_t>();
  if (from.failed()) return false;
  to.log_time = from_mcap_time(log_time);
  to.publish_time = from_mcap_time(publish_time);
  to.log_excess = excess_of(log_time);
  to.publish_excess = excess_of(publish_time);
  to.data = content.subspan(from.at());
  return true;
}

bool parse(std::span<const std::byte> content, statistics_record& to) {
  byte_cursor from(content);
  to.messages = from.number<std::uint64_t>();
  to.schemas = from.number<std::uint16_t>();
  to.channels = from.number<std::uint32_t>();
  to.attachments = from.number<std::uint32_t>();
  to.metadata = from.number<std::uint32_t>();
  to.chunks = from.number<std::uint32_t>();
  to.first = from_mcap_time(from.number<std::uint64_t>());
  to.last = from_mcap_time(from.number<std::uint64_t>());
  byte_cursor counts = from.nested();
  while (!from.failed() && counts.left() > 0) {
    const auto id = counts.number<std::uint16_t>();
    const auto count = counts.number<std::uint64_t>();
    if (counts.failed()) return false;
    to.counts[id] += count;
  }
  return !from.failed();
}

bool parse(byte_cursor& from, chunk_record& to) noexcept {
  to.first = from_mcap_time(from.number<std::uint64_t>());
  to.last = from_mcap_time(from.number<std::uint64_t>());
  to.uncompressed = from.number<std::uint64_t>();
  to.crc = from.number<std::uint32_t>();
  to.compression = from.text();
  to.size = from.number<std::uint64_t>();
  return !from.failed();
}

bool parse(byte_cursor& from, attachment_record& to) noexcept {
  to.log_time = from.number<std::uint64_t>();
  to.create_time = from.number<std::uint64_t>();
  to.name = from.text();
  to.media_type = from.text();
  to.size = from.number<std::uint64_t>();
  return !from.failed();
}

}  // namespace orc::recording::detail
