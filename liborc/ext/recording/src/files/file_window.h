// Reads a file from front to back in large pieces, for who looks at many small records.
#pragma once

#include <cstdint>
#include <span>

#include "bytes/byte_buffer.h"
#include "files/input_file.h"

namespace orc::recording::detail {

class file_window {
 public:
  explicit file_window(const input_file& file) noexcept : file_(file) {}

  // These bytes of the file, at most max_bytes; they live until the next call. Fewer when the file ends before. None
  // when they cannot be read: status() says why, until the next call.
  std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] const result& status() const noexcept { return status_; }

  static constexpr std::size_t max_bytes = std::size_t{256} << 10;
  // A disk fails by the page. Around one that cannot be read, the others are read one by one.
  static constexpr std::size_t page_bytes = 4096;

 private:
  bool fill(std::uint64_t offset, std::uint64_t bytes);

  const input_file& file_;
  byte_buffer buffer_;
  std::uint64_t start_ = 0;
  std::uint64_t careful_until_ = 0;  // reads pages up to here
  result status_;
};

}  // namespace orc::recording::detail
