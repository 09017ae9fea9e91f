#include "broker/map/table_records.h"

namespace orc::table {

const publication* leader(const topic& of) noexcept {
  const publication* first = nullptr;
  for (const auto& [id, each] : of.publishers) {
    if (!is_live(each)) continue;
    const bool own = each.from == nullptr;
    const bool first_is_own = first != nullptr && first->from == nullptr;
    if (first == nullptr || (own != first_is_own ? own : is_older(each, *first))) first = &each;
  }
  return first;
}

bool is_shared(const topic& of) noexcept {
  const auto* const first = leader(of);
  return first != nullptr && first->shared;
}

const publication* own(const topic& of, const participant& self) noexcept {
  for (const auto& [id, each] : of.publishers) {
    if (each.holder == &self) return &each;
  }
  return nullptr;
}

bool linked(const topic& to, const participant& who) noexcept {
  if (own(to, who) != nullptr) return true;
  const auto first = to.subscriptions.lower_bound({who.number, 0});
  return first != to.subscriptions.end() && first->first.hi == who.number;
}

}  // namespace orc::table
