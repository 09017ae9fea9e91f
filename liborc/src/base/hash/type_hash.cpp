// In the base, because the broker computes hashes as well.
#include "base/hash/type_hasher.h"
#include "orc/type_description.h"

namespace orc {

std::uint64_t hash_of(const type_description& type) noexcept {
  if (type.empty()) return 0;
  detail::type_hasher hash(type.name, type.schema_encoding, type.message_encoding, type.schema.size());
  hash.add(type.schema);
  return hash.finish();
}

}  // namespace orc
