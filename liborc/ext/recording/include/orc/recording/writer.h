// Writes recordings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "orc/recording/sample.h"
#include "orc/result.h"

namespace orc::recording {

// One file. Text that is not UTF-8 is written with \xNN for each byte that is none. A thread at a time. After a call
// has failed with system_error, the file holds all whole chunks before it; close() then completes what the disk allows.
class writer {
 public:
  virtual ~writer() = default;  // closes; errors of that are lost
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  // Adds a channel. Equal types share one schema record.
  // - bad_argument: max_channels are there, or the format cannot name the topic.
  virtual result add_channel(const channel& added, channel_id& made) = 0;

  // Appends one sample; copies it into the open chunk, or writes it at once from `data` when it is large and not
  // compressed. A chunk is written whole when it has `chunk_bytes`, or when `chunk_ns` lie between its first sample
  // and this one.
  // - bad_argument: this format does not take samples of that size; the file goes on without it.
  // - system_error: the system's word, as in "cannot write run.mcap: No space left on device". is_full() says whether
  //   it was that.
  virtual result write(const sample& s) = 0;

  // Named texts, and attached files. A format without them (LCM log) drops them and returns ok.
  virtual result add_metadata(std::string_view name, const std::map<std::string, std::string>& entries) = 0;
  // `about.size` does not count.
  virtual result add_attachment(const attachment& about, std::span<const std::byte> data) = 0;

  // Writes the open chunk, however small. A recorder calls it once a second, when samples are rare.
  virtual result flush() = 0;
  // flush(), then index, statistics and footer. The file is complete then. Further calls return closed.
  virtual result close() = 0;

  // The disk was full.
  [[nodiscard]] virtual bool is_full() const noexcept = 0;
  // Bytes in the file so far, and with the open chunk.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;

 protected:
  writer() = default;
};

enum class compression : std::uint8_t { none, lz4, zstd };

struct mcap_options {
  recording::compression compression = compression::none;
  std::size_t chunk_bytes = std::size_t{1} << 20;  // of messages, before compression
  std::int64_t chunk_ns = 1'000'000'000;
  bool sync = false;       // fdatasync after each chunk and in flush(): what is written survives a power loss
  bool overwrite = false;  // false: an existing file is an error
  std::string profile = {};
  std::string copy_of = {};  // the library that wrote the file of which this is a copy
};

// Both make a new file: `overwrite` removes a file or a symbolic link of that name first, and never writes through the
// link. They fail with: already there (bad_argument, names the file and --force), no_permission, system_error. Then no
// file is left. `full`, if not null: whether the disk was full.
result create_mcap(const std::string& path, const mcap_options& options, std::unique_ptr<writer>& made,
                   bool* full = nullptr);
// LCM's event log: byte-compatible with liblcm's. Events are numbered by the writer. Types are lost: LCM's messages
// begin with their fingerprint. `received_ns` becomes the event's microseconds.
result create_lcm_log(const std::string& path, bool overwrite, std::unique_ptr<writer>& made, bool* full = nullptr);

}  // namespace orc::recording
