// Anonymous shared memory: descriptors to pass to another process, and mappings of them. It has no name, so nothing is
// left behind, whatever dies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "orc/options.h"
#include "orc/result.h"

namespace orc::detail::shm {

// Memory mapped into this process, until the end of the object.
class mapping {
 public:
  mapping() noexcept = default;
  mapping(void* at, std::size_t size) noexcept : at_(at), size_(size) {}
  mapping(mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~mapping();

  explicit operator bool() const noexcept { return at_ != nullptr; }
  [[nodiscard]] std::byte* bytes() const noexcept { return static_cast<std::byte*>(at_); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Unmaps everything behind the first `size` bytes, a multiple of a page.
  void trim(std::size_t size) noexcept;

 private:
  void* at_ = nullptr;
  std::size_t size_ = 0;
};

struct shared_memory {
  unique_fd fd;  // to pass on
  mapping memory;
};

// Makes zeroed memory of a constant size, mapped here for writing.
enum class others : std::uint8_t { only_read, read_and_write };
[[nodiscard]] expected<shared_memory> make_shared_memory(std::size_t size, others may, bool huge_pages = false);

// Memory exists only after its first write. This makes the bytes [at, at + size) exist now, and with `lock` keeps them
// from being swapped out. no_permission: they exist, but may be swapped out. Any thread, also while others use the
// memory.
[[nodiscard]] result take_memory(const shared_memory& of, std::uint64_t at, std::uint64_t size, bool lock);

// Fails when this system cannot make such memory (system_error), or not now (no_descriptors, no_memory).
[[nodiscard]] result can_share_memory();

// Maps the first `size` bytes of a received descriptor. No page exists before it is read. False: it is not such memory,
// its size could still change, or it is smaller.
[[nodiscard]] mapping map_read_only(int fd, std::size_t size);
[[nodiscard]] mapping map_writable(int fd, std::size_t size);

}  // namespace orc::detail::shm
