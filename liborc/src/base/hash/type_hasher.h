// The hash of a type description (orc::hash_of) whose schema comes in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash/sha256.h"

namespace orc::detail {

class type_hasher {
 public:
  // `schema_size`: bytes that add() gets in all.
  type_hasher(std::string_view name, std::string_view schema_encoding, std::string_view message_encoding,
              std::size_t schema_size) noexcept;
  // The next bytes of the schema.
  void add(std::string_view schema) noexcept { hash_.add(schema); }
  // Call it once only.
  [[nodiscard]] std::uint64_t finish() noexcept;

 private:
  void add_length(std::size_t size) noexcept;

  sha256 hash_;
};

}  // namespace orc::detail
