#include "wire/type_hash.h"

#include <array>

#include "base/sha256.h"

namespace orc::wire {

std::uint64_t type_hash(const type_description& type) noexcept {
  detail::sha256 hash;
  for (const std::string* const part : {&type.name, &type.encoding, &type.schema}) {
    std::array<char, 8> length;
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(std::uint64_t{part->size()} >> (8 * i));
    hash.add({length.data(), length.size()});
    hash.add(*part);
  }
  const auto digest = hash.finish();
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < 8; ++i) first |= std::uint64_t{digest[i]} << (8 * i);
  return first;
}

}  // namespace orc::wire
