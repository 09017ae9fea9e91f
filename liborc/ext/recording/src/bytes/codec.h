// Compression of chunks: frames of lz4 and zstd.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bytes/byte_buffer.h"
#include "orc/recording/writer.h"
#include "orc/result.h"

namespace orc::recording::detail {

// MCAP's names: "", "lz4", "zstd".
[[nodiscard]] std::string_view name_of(compression which) noexcept;

// Compresses one chunk after the other.
class compressor {
 public:
  explicit compressor(compression which);
  ~compressor();
  compressor(const compressor&) = delete;
  compressor& operator=(const compressor&) = delete;

  // Replaces what is in `to`.
  result compress(std::span<const std::byte> from, byte_buffer& to);

 private:
  struct state;
  compression which_;
  std::unique_ptr<state> state_;
};

// Appends what is compressed in `from` to `to`, which grows as the data comes, by `most` bytes. Returns why it
// failed, or "".
[[nodiscard]] std::string decompress(std::string_view compression, std::span<const std::byte> from, std::uint64_t most,
                                     byte_buffer& to);

}  // namespace orc::recording::detail
