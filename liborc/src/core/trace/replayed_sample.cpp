#include "core/trace/replayed_sample.h"

#include <cstdlib>
#include <cstring>

namespace orc::detail {

namespace {

constexpr std::size_t alignment = 64;

void drop(sample_buffer& buffer) noexcept { std::free(buffer.payload()); }
std::byte* payload(sample_buffer& buffer) noexcept { return buffer.payload(); }

constexpr sample_buffer::operations in_memory{nullptr, drop, payload, nullptr};

[[nodiscard]] std::byte* allocate(std::size_t size) noexcept {
  if (size > SIZE_MAX - alignment) return nullptr;
  return static_cast<std::byte*>(std::aligned_alloc(alignment, (size / alignment + 1) * alignment));
}

}  // namespace

sample_buffer replayed_sample(std::span<const std::byte> bytes) noexcept {
  sample_buffer made;
  std::byte* const memory = allocate(bytes.size());
  if (memory == nullptr) return made;
  if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
  made.adopt(&in_memory, memory, bytes.size());
  return made;
}

sample_buffer replayed_memory(std::size_t size) noexcept {
  sample_buffer made;
  std::byte* const memory = allocate(size);
  if (memory == nullptr) return made;
  std::memset(memory, 0, size);
  made.adopt(&in_memory, memory, size);
  return made;
}

}  // namespace orc::detail
