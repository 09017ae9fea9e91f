#include "schema/protobuf/protobuf_wire.h"

namespace orc::detail {
namespace {

enum wire_type : std::uint64_t { integer, fixed64, content, group_begin, group_end, fixed32 };

}  // namespace

bool protobuf_reader::varint(std::uint64_t& to) noexcept {
  to = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    to |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  failed_ = true;
  return false;
}

bool protobuf_reader::take(std::size_t bytes) noexcept {
  failed_ = bytes > rest_.size();
  if (!failed_) rest_.remove_prefix(bytes);
  return !failed_;
}

bool protobuf_reader::next(protobuf_record& to) noexcept {
  if (failed_ || rest_.empty()) return false;
  std::uint64_t tag = 0;
  if (!varint(tag)) return false;
  to = {};
  to.number = static_cast<std::uint32_t>(tag >> 3);
  if (to.number == 0 || tag >> 32 != 0) {
    failed_ = true;
    return false;
  }
  switch (tag & 7) {
    case wire_type::integer: return varint(to.value);
    case wire_type::fixed64: return take(8);
    case wire_type::fixed32: return take(4);
    case wire_type::group_begin:
    case wire_type::group_end: return true;
    case wire_type::content: {
      std::uint64_t size = 0;
      if (!varint(size)) return false;
      const auto before = rest_;
      if (!take(size)) return false;
      to.content = before.substr(0, size);
      to.is_content = true;
      return true;
    }
    default: failed_ = true; return false;
  }
}

}  // namespace orc::detail
