// The records of MCAP as bytes. Source: the format's specification, https://mcap.dev/spec.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "bytes/byte_buffer.h"
#include "bytes/byte_cursor.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {

inline constexpr std::array<unsigned char, 8> mcap_magic = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

enum class opcode : std::uint8_t {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  chunk = 0x06,
  message_index = 0x07,
  chunk_index = 0x08,
  attachment = 0x09,
  attachment_index = 0x0A,
  statistics = 0x0B,
  metadata = 0x0C,
  metadata_index = 0x0D,
  summary_offset = 0x0E,
  data_end = 0x0F
};

inline constexpr std::size_t record_head = 9;              // opcode and length
inline constexpr std::size_t message_head = 22;            // of a message's content, before the data
inline constexpr std::size_t footer_size = 20;             // of the content
inline constexpr std::size_t chunk_fixed = 8 + 8 + 8 + 4;  // before the compression's name

inline constexpr std::size_t longest_compression = 64;  // name of one

// Begins a record in a buffer; end_record() fills in its length. Returns where the record begins.
inline std::size_t begin_record(byte_buffer& to, opcode code) {
  const std::size_t at = to.size();
  to.put(static_cast<std::uint8_t>(code));
  to.put(std::uint64_t{0});
  return at;
}
inline void end_record(byte_buffer& to, std::size_t at) {
  to.put_at(at + 1, static_cast<std::uint64_t>(to.size() - at - record_head));
}

void put_text_map(byte_buffer& to, const std::map<std::string, std::string>& entries);
void put_schema(byte_buffer& to, std::uint16_t id, std::string_view name, std::string_view encoding,
                std::string_view schema);
void put_channel(byte_buffer& to, std::uint16_t id, std::uint16_t schema_id, const channel& about);

// Times before 1970 are written as 0, and ones after 2262 are read as that: MCAP's have no sign.
[[nodiscard]] constexpr std::uint64_t to_mcap_time(std::int64_t ns) noexcept {
  return ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
}
[[nodiscard]] constexpr std::int64_t from_mcap_time(std::uint64_t ns) noexcept {
  constexpr std::uint64_t most = INT64_MAX;
  return static_cast<std::int64_t>(ns < most ? ns : most);
}

// The bytes that a chunk may have when it is compressed to so many.
[[nodiscard]] constexpr std::uint64_t most_decompressed(std::uint64_t compressed) noexcept {
  constexpr std::uint64_t small = std::uint64_t{64} << 20;
  return std::min(max_chunk_bytes, small + std::min(compressed, max_chunk_bytes) * 1000);
}

// What a time has beyond that.
[[nodiscard]] constexpr std::uint64_t excess_of(std::uint64_t ns) noexcept {
  return ns - static_cast<std::uint64_t>(from_mcap_time(ns));
}

struct record {
  opcode code = {};
  std::span<const std::byte> content = {};
};
// The next record of a buffer. False: its length does not fit, or nothing is left.
[[nodiscard]] bool take_record(byte_cursor& from, record& found) noexcept;

struct schema_record {
  std::uint16_t id = 0;
  std::string_view name;
  std::string_view encoding;
  std::string_view schema;
};
struct channel_record {
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;
  std::string_view topic;
  std::string_view message_encoding;
  std::map<std::string, std::string> metadata;
};
struct message_record {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::int64_t log_time = 0;
  std::int64_t publish_time = 0;
  std::uint64_t log_excess = 0;
  std::uint64_t publish_excess = 0;
  std::span<const std::byte> data;
};
struct chunk_record {  // the fields before the compressed records
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint64_t uncompressed = 0;
  std::uint32_t crc = 0;
  std::string_view compression;
  std::uint64_t size = 0;  // of the compressed records
  bool says_more = false;  // of them than the record has
};
struct attachment_record {
  std::uint64_t log_time = 0;
  std::uint64_t create_time = 0;
  std::string_view name;
  std::string_view media_type;
  std::uint64_t size = 0;
};
struct statistics_record {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0;
  std::uint32_t attachments = 0;
  std::uint32_t metadata = 0;
  std::uint32_t chunks = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::map<std::uint16_t, std::uint64_t> counts;  // messages, by number of the channel
};

// False: the content is too short, or wrong in itself.
[[nodiscard]] bool parse(std::span<const std::byte> content, schema_record& to) noexcept;
[[nodiscard]] bool parse(std::span<const std::byte> content, channel_record& to);
[[nodiscard]] bool parse(std::span<const std::byte> content, message_record& to) noexcept;
[[nodiscard]] bool parse(std::span<const std::byte> content, statistics_record& to);
[[nodiscard]] bool parse_text_map(byte_cursor& from, std::map<std::string, std::string>& to);
// These take the fields before the data; the cursor stands behind them then.
[[nodiscard]] bool parse(byte_cursor& from, chunk_record& to) noexcept;
[[nodiscard]] bool parse(byte_cursor& from, attachment_record& to) noexcept;

}  // namespace orc::recording::detail
