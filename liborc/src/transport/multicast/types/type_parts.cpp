#include "transport/multicast/types/type_parts.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/multicast/datagram/big_endian.h"

namespace orc::detail::multicast {

std::string write_type(const type_description& type) {
  std::string bytes;
  for (const std::string* const part : {&type.name, &type.schema_encoding, &type.message_encoding, &type.schema}) {
    std::array<std::byte, 4> length;
    put_big_endian(length.data(), static_cast<std::uint32_t>(part->size()));
    bytes.append(reinterpret_cast<const char*>(length.data()), length.size());
    bytes += *part;
  }
  return bytes;
}

std::optional<type_description> read_type(std::string_view bytes) {
  type_description type;
  for (std::string* const part : {&type.name, &type.schema_encoding, &type.message_encoding, &type.schema}) {
    if (bytes.size() < 4) return std::nullopt;
    const auto length = get_big_endian<std::uint32_t>(reinterpret_cast<const std::byte*>(bytes.data()));
    bytes.remove_prefix(4);
    if (length > bytes.size()) return std::nullopt;
    *part = bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return std::nullopt;
  return type;
}

}  // namespace orc::detail::multicast
