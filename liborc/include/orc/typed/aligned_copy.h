// A copy of bytes at an address of a given alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace orc::detail {

// Up to `Inline` bytes are in the object itself, more are on the heap. One thread at a time.
template <std::size_t Inline, std::size_t Alignment>
class aligned_copy {
 public:
  aligned_copy() noexcept {}  // not `= default`: that would clear the bytes of an object in a value-initialised one
  aligned_copy(aligned_copy&& other) noexcept { take(other); }
  aligned_copy& operator=(aligned_copy&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  aligned_copy(const aligned_copy&) = delete;
  aligned_copy& operator=(const aligned_copy&) = delete;
  ~aligned_copy() = default;

  // Makes room for `size` bytes, whose content is undefined. Null when there is no memory.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept {
    heap_.reset();
    if (size > Inline) {
      heap_.reset(static_cast<std::byte*>(::operator new(size, std::align_val_t(Alignment), std::nothrow)));
      size_ = heap_ ? size : 0;
      return heap_.get();
    }
    size_ = size;
    return inline_;
  }
  // Copies the bytes. Null when there is no memory.
  [[nodiscard]] const std::byte* assign(std::span<const std::byte> bytes) noexcept {
    std::byte* const to = reserve(bytes.size());
    if (to != nullptr && !bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return to;
  }

  // The bytes; they move with the object when they are in it.
  [[nodiscard]] const std::byte* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] std::byte* data() noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct aligned_delete {
    void operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, std::align_val_t(Alignment)); }
  };

  void take(aligned_copy& other) noexcept {
    heap_ = std::move(other.heap_);
    size_ = std::exchange(other.size_, 0);
    if (!heap_ && size_ > 0) std::memcpy(inline_, other.inline_, size_);
  }

  alignas(Alignment) std::byte inline_[Inline > 0 ? Inline : 1];
  std::unique_ptr<std::byte, aligned_delete> heap_;
  std::size_t size_ = 0;
};

// Whether an object of this alignment can be read at this address.
[[nodiscard]] inline bool is_aligned(const void* at, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

}  // namespace orc::detail
