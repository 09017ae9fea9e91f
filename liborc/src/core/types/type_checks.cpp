#include "core/types/type_checks.h"

#include <algorithm>

namespace orc::detail {

const result* type_checks::find(std::uint64_t published, std::uint64_t expected, std::string_view publisher) {
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const outcome& each) {
    return each.published == published && each.expected == expected && (each.found || each.publisher == publisher);
  });
  if (known == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, known);
  return &kept_.front().found;
}

const result& type_checks::compare(const type_description& published, std::uint64_t published_hash,
                                   const type_description& expected, std::uint64_t expected_hash,
                                   std::string_view publisher) {
  if (const result* const known = find(published_hash, expected_hash, publisher)) return *known;
  kept_.push_front(
      {published_hash, expected_hash, std::string(publisher), check_types(published, expected, publisher)});
  if (kept_.size() > max_kept) kept_.pop_back();
  return kept_.front().found;
}

}  // namespace orc::detail
