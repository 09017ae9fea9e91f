#include "tools/orc/recording/recorded_types.h"

#include "tools/orc/text.h"
#include "tools/orc/type/type_file.h"

namespace orc::cli {

bool is_unknown(const type_description& type) noexcept {
  return type.name.empty() && type.schema.empty() && type.message_encoding != "json";
}

const std::string& shown_name(const type_description& type) noexcept {
  return type.name.empty() && !is_unknown(type) ? type.message_encoding : type.name;
}

result recorded_types::read(const std::string& type, const std::vector<std::string>& lcm_types) {
  if (!type.empty()) {
    const auto found = type_from_file(type);
    if (!found) return found.error();
    if (auto made = types::decoder::make(*found, fixed_); !made) return made;
  }
  if (lcm_types.empty()) return {};
  const auto found = lcm_types_in(lcm_types);
  return found ? lcm_.add(*found) : result(found.error());
}

const types::decoder* recorded_types::decoder_of(const type_description& channel, std::span<const std::byte> sample) {
  why_.clear();
  if (fixed_) return fixed_.get();
  if (is_unknown(channel)) return lcm_.find(sample);
  const auto [place, added] = by_hash_.try_emplace(hash_of(channel));
  known_type& known = place->second;
  if (added) {
    if (const result made = types::decoder::make(channel, known.decoder); !made)
      known.why = escaped(made.error().message());
  }
  why_ = known.why;
  return known.decoder.get();
}

}  // namespace orc::cli
