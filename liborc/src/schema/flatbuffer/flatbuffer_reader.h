// Reads FlatBuffers of unknown origin. Each access checks the bounds, so nothing has to be verified before. The
// Verifier of libflatbuffers is not used: it visits what tables share once per table, so 1 MiB can keep it busy for
// minutes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace orc::detail {

// A buffer, and whether all that was read lay inside it.
class flatbuffer_bytes {
 public:
  explicit flatbuffer_bytes(std::string_view bytes) noexcept : bytes_(bytes) {}

  // Returns 0 for bytes outside, and remembers the first such place.
  [[nodiscard]] std::uint64_t integer(std::size_t at, std::size_t size) noexcept;
  [[nodiscard]] std::string_view text(std::size_t at) noexcept;
  // Returns where the offset at `at` points to.
  [[nodiscard]] std::size_t target(std::size_t at) noexcept;
  void fail(std::size_t at) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t failed_at() const noexcept { return failed_at_; }

 private:
  std::string_view bytes_;
  std::size_t failed_at_ = 0;
  bool failed_ = false;
};

class flatbuffer_table;

// A vector of offsets.
class flatbuffer_vector {
 public:
  flatbuffer_vector() noexcept = default;
  flatbuffer_vector(flatbuffer_bytes& bytes, std::size_t at) noexcept;
  // At most as many as the buffer has place for.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] flatbuffer_table table(std::size_t index) const noexcept;
  [[nodiscard]] std::string_view text(std::size_t index) const noexcept;

 private:
  flatbuffer_bytes* bytes_ = nullptr;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

// A table; one that is absent has no fields.
class flatbuffer_table {
 public:
  flatbuffer_table() noexcept = default;
  flatbuffer_table(flatbuffer_bytes& bytes, std::size_t at) noexcept : bytes_(&bytes), at_(at) {}
  // The table with which the buffer begins.
  [[nodiscard]] static flatbuffer_table root(flatbuffer_bytes& bytes) noexcept { return {bytes, bytes.target(0)}; }

  [[nodiscard]] bool exists() const noexcept { return bytes_ != nullptr; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  // A field by its id in the schema; the value is `otherwise` where it is absent.
  template <typename T>
  [[nodiscard]] T number(std::size_t id, T otherwise = 0) const noexcept {
    static_assert(std::is_integral_v<T>);
    const auto place = field(id);
    return place == 0 ? otherwise : static_cast<T>(bytes_->integer(place, sizeof(T)));
  }
  [[nodiscard]] double real(std::size_t id) const noexcept;
  [[nodiscard]] std::string_view text(std::size_t id) const noexcept;
  [[nodiscard]] flatbuffer_table table(std::size_t id) const noexcept;
  [[nodiscard]] flatbuffer_vector vector(std::size_t id) const noexcept;

 private:
  // Returns the place of a field; 0 when it is absent.
  [[nodiscard]] std::size_t field(std::size_t id) const noexcept;

  flatbuffer_bytes* bytes_ = nullptr;
  std::size_t at_ = 0;
};

}  // namespace orc::detail
