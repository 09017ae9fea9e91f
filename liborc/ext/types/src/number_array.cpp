#include "orc/types/number_array.h"

namespace orc::types {

number_array::number_array(field_kind kind, std::span<const std::byte> bytes, std::span<const std::size_t> shape,
                           bool swapped)
    : kind_(kind),
      swapped_(swapped),
      size_(bytes.size() / (size_of(kind) ? size_of(kind) : 1)),
      bytes_(bytes),
      shape_(shape) {}

std::size_t size_of(field_kind kind) noexcept {
  switch (kind) {
    case field_kind::boolean:
    case field_kind::int8:
    case field_kind::uint8: return 1;
    case field_kind::int16:
    case field_kind::uint16: return 2;
    case field_kind::int32:
    case field_kind::uint32:
    case field_kind::float32: return 4;
    case field_kind::int64:
    case field_kind::uint64:
    case field_kind::float64: return 8;
    default: return 0;
  }
}

}  // namespace orc::types
