// Writes MCAP. liborc/doc/design/recordings.md says why chunks are written whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bytes/codec.h"
#include "files/output_file.h"
#include "mcap/mcap_chunk.h"
#include "mcap/mcap_index.h"
#include "orc/recording/writer.h"

namespace orc::recording::detail {

class mcap_writer final : public writer {
 public:
  explicit mcap_writer(const mcap_options& options);
  ~mcap_writer() override;
  mcap_writer(const mcap_writer&) = delete;
  mcap_writer& operator=(const mcap_writer&) = delete;

  // When it fails, no file is left.
  result open(const std::string& path);

  result add_channel(const channel& added, channel_id& made) override;
  result write(const sample& s) override;
  result add_metadata(std::string_view name, const std::map<std::string, std::string>& entries) override;
  result add_attachment(const attachment& about, std::span<const std::byte> data) override;
  result flush() override;
  result close() override;
  [[nodiscard]] bool is_full() const noexcept override { return file_.is_full(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  result usable() const;
  [[nodiscard]] bool belongs_to_next(const sample& s) const noexcept;
  result write_large(const sample& s);
  // Writes the open chunk; `tail` is the data of its last message.
  result write_chunk(std::span<const std::byte> tail);
  void put_chunk_head(std::uint64_t records, std::uint64_t compressed, std::uint32_t crc, std::string_view compression);
  // Appends this as one, with a place for the summary behind it; an error stays.
  result append(std::initializer_list<std::span<const std::byte>> pieces);
  // Waits for the disk if that is wanted and something is new.
  result sync();

  mcap_options options_;
  output_file file_;
  mcap_chunk chunk_;
  mcap_index index_;
  std::optional<compressor> compressor_;

  // Buffers that keep their memory.
  byte_buffer head_;
  byte_buffer compressed_;
  byte_buffer indexes_;
  std::vector<std::uint64_t> index_at_;

  result status_;  // ok until the file could not be written
  bool synced_ = true;
  bool closed_ = false;
};

}  // namespace orc::recording::detail
