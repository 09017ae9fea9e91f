// A file that others may change or cut while it is read. In a mapping, a cut would be a SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"

namespace orc::detail {

// Any thread.
class readable_file {
 public:
  // Of a regular file with at least one byte; the error has the path and the reason.
  [[nodiscard]] static expected<readable_file> open(const std::string& path);
  // Bytes in memory, which must live longer.
  explicit readable_file(std::span<const std::byte> memory) noexcept : memory_(memory), size_(memory.size()) {}

  // When it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Copies all of `to` from a position. False: the file does not have these bytes, or no longer.
  [[nodiscard]] bool read(std::uint64_t position, std::span<std::byte> to) const noexcept;

 private:
  readable_file(unique_fd fd, std::uint64_t size) noexcept : fd_(std::move(fd)), size_(size) {}

  unique_fd fd_;  // none: memory_ has the bytes
  std::span<const std::byte> memory_;
  std::uint64_t size_;
};

}  // namespace orc::detail
