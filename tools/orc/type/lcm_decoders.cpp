#include "tools/orc/type/lcm_decoders.h"

#include "orc/schema.h"

namespace orc::cli {

namespace {

std::optional<std::uint64_t> fingerprint_of(std::span<const std::byte> sample) {
  if (sample.size() < 8) return std::nullopt;
  std::uint64_t number = 0;
  for (const std::byte each : sample.first(8)) number = number << 8 | std::to_integer<std::uint64_t>(each);
  return number;
}

}  // namespace

result lcm_decoders::add(const std::vector<type_description>& types) {
  for (const auto& each : types) {
    const auto fingerprint = lcm_fingerprint(each);
    if (!fingerprint) continue;
    if (auto made = types::decoder::make(each, by_fingerprint_[*fingerprint]); !made) return made;
  }
  return {};
}

const types::decoder* lcm_decoders::find(std::span<const std::byte> sample) const {
  if (by_fingerprint_.empty()) return nullptr;
  const auto fingerprint = fingerprint_of(sample);
  const auto found = fingerprint ? by_fingerprint_.find(*fingerprint) : by_fingerprint_.end();
  return found == by_fingerprint_.end() ? nullptr : found->second.get();
}

}  // namespace orc::cli
