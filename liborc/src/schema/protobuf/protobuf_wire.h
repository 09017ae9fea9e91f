// Reads the wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orc::detail {

// One field of a message. Groups come as a field without content.
struct protobuf_record {
  std::uint32_t number = 0;
  std::uint64_t value = 0;        // of an integer
  std::string_view content = {};  // of a text, bytes or a message
  bool is_content = false;
};

// The fields of one message, in their order.
class protobuf_reader {
 public:
  // `message` lies `offset` bytes behind the start of the whole.
  explicit protobuf_reader(std::string_view message, std::size_t offset = 0) noexcept
      : begin_(message.data()), rest_(message), offset_(offset) {}

  // Returns false at the end, and where the bytes are no message: then failed() is true.
  [[nodiscard]] bool next(protobuf_record& to) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  // Returns the byte of the whole at which it stands, or at which the content of a record begins.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_of(rest_); }
  [[nodiscard]] std::size_t offset_of(std::string_view content) const noexcept {
    return offset_ + static_cast<std::size_t>(content.data() - begin_);
  }

 private:
  bool varint(std::uint64_t& to) noexcept;
  bool take(std::size_t bytes) noexcept;

  const char* begin_;
  std::string_view rest_;
  std::size_t offset_;
  bool failed_ = false;
};

}  // namespace orc::detail
