// What a writer knows of its file, to be written at its end: the summary section.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bytes/byte_buffer.h"
#include "mcap/mcap_chunk.h"
#include "mcap/mcap_records.h"
#include "orc/recording/sample.h"

namespace orc::recording::detail {

class mcap_index {
 public:
  // Adds the channel, and its schema if that is new, also to `declarations`, for the data section. False: there are too
  // many.
  [[nodiscard]] bool add_channel(const channel& added, channel_id& made, byte_buffer& declarations);
  [[nodiscard]] std::size_t channels() const noexcept { return counts_.size(); }

  struct chunk_place {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;        // of the chunk record
    std::uint64_t index_length = 0;  // of the message index records behind it
    std::uint64_t compressed = 0;    // of its records
    std::uint64_t uncompressed = 0;
    std::string_view compression;
  };
  // Adds a chunk that is in the file. `index_at` has the place of the index of each of its channels, in their order.
  void add_chunk(const mcap_chunk& chunk, const chunk_place& place, std::span<const std::uint64_t> index_at);
  void add_metadata(std::uint64_t offset, std::uint64_t length, std::string_view name);
  void add_attachment(std::uint64_t offset, std::uint64_t length, const attachment& about);

  // About the bytes that put_summary() makes; at least so many.
  [[nodiscard]] std::uint64_t summary_size() const noexcept;
  // Appends all from the summary section to the end of the file, which begins at this offset.
  void put_summary(std::uint64_t offset, byte_buffer& to) const;

 private:
  std::uint16_t schema_of(const type_description& type, byte_buffer& declarations);
  void put_statistics(byte_buffer& to) const;

  // Records as they will be in the summary.
  byte_buffer schemas_;
  byte_buffer channels_;
  byte_buffer chunks_;
  byte_buffer attachments_;
  byte_buffer metadata_;

  std::map<std::tuple<std::string, std::string, std::string>, std::uint16_t> schema_ids_;
  std::vector<std::uint64_t> counts_;  // messages, by channel
  std::uint64_t messages_ = 0;
  std::uint32_t chunk_count_ = 0;
  std::uint32_t attachment_count_ = 0;
  std::uint32_t metadata_count_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace orc::recording::detail
