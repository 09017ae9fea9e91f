// A file that only grows, by whole pieces: a piece is there entirely or not at all.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "orc/result.h"

namespace orc::recording::detail {

class output_file {
 public:
  output_file() = default;
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  // Makes the file. With overwrite, it takes the place of a file or symbolic link that is there.
  result open(const std::string& path, bool overwrite);
  // Closes the file and removes it.
  void discard();
  // Appends these pieces as one. When that fails, what was written of them is cut off again. Before, takes space on the
  // disk for them and for `reserve` bytes more, which only append() with a smaller reserve can use.
  result append(std::initializer_list<std::span<const std::byte>> pieces, std::uint64_t reserve = 0);
  result sync();
  // Gives back what was reserved.
  result close();

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_full() const noexcept { return full_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  result write_all(std::span<iovec> pieces);
  result reserve(std::uint64_t up_to);
  result failed(std::string_view what, int error_number);

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t reserved_ = 0;  // the disk has space for the file up to here
  bool can_reserve_ = true;
  bool full_ = false;
};

}  // namespace orc::recording::detail
