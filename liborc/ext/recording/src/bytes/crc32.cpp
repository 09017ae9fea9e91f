#include "bytes/crc32.h"

#include <isa-l/crc.h>

namespace orc::recording::detail {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  // ISA-L complements at both ends, as zlib does, so its results can be continued like zlib's.
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace orc::recording::detail
