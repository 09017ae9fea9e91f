// Reads recordings: MCAP files of any writer, and LCM event logs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orc/recording/sample.h"
#include "orc/result.h"

namespace orc::recording {

// What cannot be used of a recording: a sentence for each of the first 100 records, which says where it is and why.
struct losses {
  std::uint64_t count = 0;
  std::vector<std::string> sentences = {};

  void add(std::string sentence) {
    ++count;
    if (sentences.size() < max_sentences) sentences.push_back(std::move(sentence));
  }
  static constexpr std::size_t max_sentences = 100;
};

// What is known about a file without reading its samples. Of a file that was not closed, open() finds it out by
// reading once through.
struct summary {
  std::string format = {};   // "mcap" or "lcm"
  std::string library = {};  // that wrote it
  std::string profile = {};
  std::uint64_t samples = 0;
  std::int64_t first_ns = 0;  // received_ns of the first sample and of the last one
  std::int64_t last_ns = 0;
  std::vector<std::uint64_t> samples_of = {};  // by channel
  std::size_t chunks = 0;
  std::map<std::string, std::uint64_t> compressions = {};  // chunks by compression
  std::uint64_t bytes = 0;                                 // of the file
  std::uint64_t readable_bytes = 0;  // up to the last whole record; less than `bytes`: the end is torn
  bool closed = true;                // the file has its index and footer
  losses left_out = {};              // records that open() found and cannot use; broken chunks are errors of next()
};

struct named_metadata {
  std::string name = {};
  std::map<std::string, std::string> entries = {};
};

// A file comes from anywhere: each number, length and offset is checked; memory is bounded by the limits below; a
// broken record is an error that names the byte, and never a crash.
inline constexpr std::uint64_t max_chunk_bytes = std::uint64_t{1} << 30;  // uncompressed; also of other records
inline constexpr std::size_t max_schema_records = 65535;

// One open file, read in the order of received_ns; equal times in the order of the file. A thread at a time.
class reader {
 public:
  // Opens by content. - bad_argument: neither MCAP nor an LCM log, or broken before the first sample; the message says
  // where. - system_error, no_permission: the system's word. A torn end is not an error: see summary.
  static result open(const std::string& path, std::unique_ptr<reader>& made);

  virtual ~reader() = default;
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  [[nodiscard]] virtual const recording::summary& summary() const noexcept = 0;
  // Grows while a file is read that has channels which its index omits; an index is a channel_id.
  [[nodiscard]] virtual const std::vector<channel>& channels() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<named_metadata>& metadata() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<attachment>& attachments() const noexcept = 0;
  virtual result read_attachment(std::size_t index, std::vector<std::byte>& data) = 0;

  // Reads these channels only from now on (chunks without them are skipped), and those that were not known yet: a chunk
  // may describe some that the index omits. Empty: all.
  virtual void select(const std::vector<bool>& by_channel) = 0;
  // next() returns the first sample at or after this time.
  virtual result seek(std::int64_t received_ns) = 0;
  // The next sample; its data lives until the next call. - nothing_new: the end. - bad_argument: broken here;
  // system_error: the disk cannot read it. After both, a further call goes on behind the broken chunk.
  virtual result next(sample& found) = 0;
  // The newest sample of this channel at or before this time, for a player that jumps: what a late joiner would get.
  // - nothing_new: there is none. Does not move next().
  virtual result last_before(channel_id which, std::int64_t received_ns, sample& found,
                             std::vector<std::byte>& data) = 0;

  // Checks all of the file: checksums, lengths, index against content, order. `problems` gets one sentence each, at
  // most 100.
  virtual result check(std::vector<std::string>& problems) = 0;

 protected:
  reader() = default;
};

}  // namespace orc::recording
