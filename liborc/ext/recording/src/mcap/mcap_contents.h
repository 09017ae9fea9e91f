// What open() finds out about an MCAP file: from its summary, or else by reading it once through.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocks/block.h"
#include "files/file_window.h"
#include "files/input_file.h"
#include "mcap/mcap_blocks.h"
#include "mcap/mcap_catalog.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {

struct attachment_place {
  std::uint64_t offset = 0;  // of the record
  std::uint64_t length = 0;
};

struct mcap_contents {
  recording::summary& about;
  std::vector<named_metadata>& metadata;
  std::vector<attachment>& attachments;
  std::vector<attachment_place> attachment_places = {};
  std::vector<block> blocks = {};
};

// Takes the records outside of chunks one after the other.
class mcap_walk {
 public:
  explicit mcap_walk(const input_file& file, std::uint64_t from) noexcept : file_(file), window_(file), at_(from) {}

  // The next record that is whole. False: there is none, because the file ends or is torn or broken here.
  bool next(record_place& found);
  // Goes on there.
  void jump(std::uint64_t to) noexcept { at_ = to; }
  // Where the next record would begin.
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  // The first bytes of a record's content, as far as file_window goes.
  std::span<const std::byte> peek(const record_place& of, std::size_t bytes);
  // All of its content. - bad_argument: it is longer than max_chunk_bytes.
  result content(const record_place& of, byte_buffer& to) const;
  // Of the last call of next() or peek(): an error when the file could not be read.
  [[nodiscard]] const result& status() const noexcept { return window_.status(); }

 private:
  [[nodiscard]] bool begins_record(std::uint64_t offset);
  std::uint64_t length_of_chunk(std::uint64_t offset, std::uint64_t claimed);

  const input_file& file_;
  file_window window_;
  std::uint64_t at_;
};

// Reads the header record, which is the first. Without one, the file has nothing that can be read.
void read_header(const input_file& file, recording::summary& about);

// From the summary. False: `why` says what is broken, or is "" when the summary is absent or does not have enough. Then
// what was found up to there is in `catalog` and `to`, and of no use.
bool read_summary(const input_file& file, mcap_catalog& catalog, mcap_contents& to, std::string& why);

// By reading all. Records that are broken or cannot be read are left out, and counted; chunks are reported when they
// are read.
void scan(const input_file& file, mcap_catalog& catalog, mcap_blocks& blocks, mcap_contents& to);

// Appends a metadata record. False: it is broken.
bool add_metadata(std::span<const std::byte> content, std::vector<named_metadata>& to);

}  // namespace orc::recording::detail
