#include "schema_store.h"

namespace orc {

schema_store::cost schema_store::cost_of(std::uint64_t hash, std::size_t bytes, const client& who) const {
  const auto kept = schemas_.find(hash);
  if (kept == schemas_.end()) return {bytes, bytes};
  return {0, kept->second.publications.contains(&who) ? 0 : bytes};
}

bool schema_store::contradicts(std::uint64_t hash, const std::string& bytes) const {
  const auto* kept = find(hash);
  return kept != nullptr && *kept != bytes;
}

void schema_store::claim(std::uint64_t hash, const std::string& bytes, client& who) {
  const auto [kept, first] = schemas_.try_emplace(hash);
  try {
    if (first) kept->second.bytes = bytes;
    if (++kept->second.publications[&who] > 1) return;
  } catch (...) {
    if (first) schemas_.erase(kept);
    throw;
  }
  if (first) bytes_ += bytes.size();
  who.description_bytes += bytes.size();
}

void schema_store::release(std::uint64_t hash, client& who) noexcept {
  const auto kept = schemas_.find(hash);
  auto& users = kept->second.publications;
  const auto mine = users.find(&who);
  if (--mine->second > 0) return;
  users.erase(mine);
  const std::size_t size = kept->second.bytes.size();
  who.description_bytes -= size;
  if (!users.empty()) return;
  bytes_ -= size;
  schemas_.erase(kept);
}

const std::string* schema_store::find(std::uint64_t hash) const {
  const auto kept = schemas_.find(hash);
  return kept == schemas_.end() ? nullptr : &kept->second.bytes;
}

}  // namespace orc
