#include "base/hash/type_hasher.h"

#include <array>

namespace orc::detail {

type_hasher::type_hasher(std::string_view name, std::string_view schema_encoding, std::string_view message_encoding,
                         std::size_t schema_size) noexcept {
  for (const auto part : {name, schema_encoding, message_encoding}) {
    add_length(part.size());
    hash_.add(part);
  }
  add_length(schema_size);
}

void type_hasher::add_length(std::size_t size) noexcept {
  std::array<char, 8> bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(std::uint64_t{size} >> (8 * i));
  hash_.add({bytes.data(), bytes.size()});
}

std::uint64_t type_hasher::finish() noexcept {
  const auto digest = hash_.finish();
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < 8; ++i) first |= std::uint64_t{digest[i]} << (8 * i);
  return first;
}

}  // namespace orc::detail
