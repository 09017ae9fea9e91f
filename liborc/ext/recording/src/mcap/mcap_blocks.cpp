#include "mcap/mcap_blocks.h"

#include <algorithm>
#include <array>

#include "bytes/codec.h"
#include "bytes/crc32.h"
#include "files/failure.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {
namespace {

std::string at_byte(std::string_view what, std::uint64_t offset) {
  return std::string(what) + " at byte " + std::to_string(offset);
}

}  // namespace

result mcap_blocks::chunk_head(std::uint64_t offset, std::uint64_t length, chunk_record& head,
                               std::uint64_t& data_offset, std::string& compression) {
  std::array<std::byte, record_head + chunk_fixed + 4 + longest_compression + 8> bytes{};
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), length));
  if (auto done = file_.read(offset, {bytes.data(), size}); !done) return done;
  byte_cursor from({bytes.data(), size});
  const auto code = static_cast<opcode>(from.number<std::uint8_t>());
  from.number<std::uint64_t>();
  if (code != opcode::chunk || length < record_head) {
    return broken(file_.name(), at_byte("there is no chunk", offset) + ", where the index says so");
  }
  if (!parse(from, head)) return broken(file_.name(), at_byte("the chunk", offset) + " has a broken head");
  data_offset = offset + from.at();
  compression = head.compression;
  head.compression = compression;
  // The checksum decides whether the record has all.
  head.says_more = length >= from.at() && head.size > length - from.at();
  if (head.says_more) head.size = length - from.at();
  if (length < from.at() || head.size > max_chunk_bytes) {
    return broken(file_.name(), at_byte("the chunk", offset) + " has an impossible size");
  }
  return {};
}

result mcap_blocks::load_chunk(const block& which, block_content& to) {
  chunk_record head;
  std::uint64_t data = 0;
  std::string compression;
  if (auto done = chunk_head(which.offset, which.length, head, data, compression); !done) return done;
  if (compression.empty()) {
    to.data.resize(static_cast<std::size_t>(head.size));
    if (auto done = file_.read(data, {to.data.data(), to.data.size()}); !done) return done;
  } else {
    compressed_.resize(static_cast<std::size_t>(head.size));
    if (auto done = file_.read(data, {compressed_.data(), compressed_.size()}); !done) return done;
    // Several chunks are in memory at once: a small file must not ask for much of it.
    const auto why = decompress(compression, compressed_.bytes(), most_decompressed(head.size), to.data);
    if (!why.empty()) return broken(file_.name(), at_byte("the chunk", which.offset) + " " + why);
  }
  if (head.crc != 0 && crc32(to.data.bytes()) != head.crc) {
    return broken(file_.name(), at_byte("the chunk", which.offset) + " has another checksum than its data");
  }
  return {};
}

result mcap_blocks::find_samples(const block& which, block_content& to) {
  byte_cursor from(to.data.bytes());
  const auto wrong = [&](std::string_view what, std::size_t at) {
    return broken(file_.name(), at_byte(which.is_chunk ? "the chunk" : "the messages", which.offset) + ": " +
                                    std::string(what) + ", " + std::to_string(at) + " bytes behind that");
  };
  while (from.left() > 0) {
    const std::size_t at = from.at();
    record found;
    if (!take_record(from, found)) return wrong("a record is longer than the rest", at);
    if (found.code != opcode::message) {
      if (catalog_.contradicts(found)) return wrong("a schema or channel is described anew, and differs", at);
      static_cast<void>(catalog_.add(found));
      continue;
    }
    message_record message;
    if (!parse(found.content, message)) return wrong("a message is too short", at);
    const auto id = catalog_.find(message.channel);
    if (!id) return wrong("a message of channel " + std::to_string(message.channel) + ", which is not described", at);
    to.entries.push_back({message.log_time, static_cast<std::uint32_t>(at), *id});
  }
  return {};
}

result mcap_blocks::load(const block& which, block_content& to) {
  if (which.is_chunk) {
    if (auto done = load_chunk(which, to); !done) return done;
  } else {
    if (which.length > max_chunk_bytes) {
      return broken(file_.name(), at_byte("the message", which.offset) + " has an impossible size");
    }
    to.data.resize(static_cast<std::size_t>(which.length));
    if (auto done = file_.read(which.offset, {to.data.data(), to.data.size()}); !done) return done;
  }
  return find_samples(which, to);
}

}  // namespace orc::recording::detail
