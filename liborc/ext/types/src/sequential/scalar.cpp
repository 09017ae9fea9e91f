#include "sequential/scalar.h"

#include <cstring>
#include <string>

#include "orc/types/number_array.h"

namespace orc::types::detail {

void visit_number(field_kind kind, const std::byte* from, bool swapped, visitor& to) {
  const std::size_t one = 1;
  const number_array number(kind, {from, size_of(kind)}, {&one, 1}, swapped);
  switch (kind) {
    case field_kind::boolean: return to.boolean(number.at<bool>(0));
    case field_kind::int8:
    case field_kind::int16:
    case field_kind::int32:
    case field_kind::int64: return to.signed_integer(number.at<std::int64_t>(0));
    case field_kind::float32: return to.float32(number.at<float>(0));
    case field_kind::float64: return to.float64(number.at<double>(0));
    default: return to.unsigned_integer(number.at<std::uint64_t>(0));
  }
}

std::string_view fixed_text(std::span<const std::byte> bytes) noexcept {
  const std::string_view all = text_of(bytes);
  return all.substr(0, all.find('\0'));
}

bool store_fixed_text(std::string_view text, std::size_t size, std::byte* to, encode_state& state) {
  if (text.size() > size) {
    return state.fail("has " + std::to_string(text.size()) + " bytes; there is room for " + std::to_string(size));
  }
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return true;
}

}  // namespace orc::types::detail
