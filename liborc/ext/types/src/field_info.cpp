#include "orc/types/field_info.h"

#include <algorithm>
#include <utility>

namespace orc::types {

enumeration::enumeration(std::vector<entry> entries) : entries_(std::move(entries)) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const entry& a, const entry& b) { return a.number < b.number; });
  by_name_ = entries_;
  std::stable_sort(by_name_.begin(), by_name_.end(), [](const entry& a, const entry& b) { return a.name < b.name; });
}

std::string_view enumeration::name_of(std::int64_t number) const noexcept {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), number,
                                      [](const entry& each, std::int64_t wanted) { return each.number < wanted; });
  return found != entries_.end() && found->number == number ? found->name : std::string_view();
}

const enumeration::entry* enumeration::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [](const entry& each, std::string_view wanted) { return each.name < wanted; });
  return found != by_name_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace orc::types
