// A new file that is written through memory. It grows while other threads write to it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "orc/result.h"

namespace orc::detail {

// The kernel has what was written as soon as it was written, so SIGKILL loses nothing. The blocks are taken from the
// disk before they are written, so a full disk is an error of grow() and never a SIGBUS.
//
// The addresses are reserved at once and never move. One thread at a time may call grow() and leave(). The others write
// below size().
class growing_file {
 public:
  // Never overwrites: an existing file is bad_argument.
  [[nodiscard]] static expected<std::unique_ptr<growing_file>> create(const std::string& path);
  ~growing_file();
  growing_file(const growing_file&) = delete;
  growing_file& operator=(const growing_file&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  // How much can be written: the file's size. What was not written is 0.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // Makes room for `wanted` bytes in all, and takes the memory for it, so that writing causes no page fault. Returns
  // errno; 0: done.
  [[nodiscard]] int grow(std::size_t wanted) noexcept;
  // Gives the memory below `end` back to the kernel. Its addresses stay valid, also for threads that still write there.
  void leave(std::size_t end) noexcept;

 private:
  growing_file() = default;
  [[nodiscard]] bool is_still_ours() const noexcept;

  unique_fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::byte* data_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t left_ = 0;
  std::atomic<std::size_t> size_{0};
};

}  // namespace orc::detail
