// The declarations that wait for the broker's answer, by the number of the request.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/housekeeping/topic_lists.h"

namespace orc::detail {

// Not thread-safe. A declaration that is repeated has several requests, and only the answer to the last one counts.
class pending_declarations {
 public:
  void add(std::uint64_t request, const topic_end& topic) { pending_.emplace(request, topic); }
  void remove(std::uint64_t request) noexcept { pending_.erase(request); }
  // The topic of the declaration that this answers; nothing: it is the answer to an older one, or to none of them.
  [[nodiscard]] std::optional<topic_end> answered_by(std::uint64_t request) const {
    const auto found = pending_.find(request);
    if (found == pending_.end() || !found->second.declared().awaits(request)) return std::nullopt;
    return found->second;
  }
  void forget_answered() {
    std::erase_if(pending_, [](const auto& each) { return !each.second.declared().awaits(each.first); });
  }
  // The topic ended: no answer about it counts any more.
  void forget(const announcement* declared) noexcept {
    std::erase_if(pending_, [&](const auto& each) { return &each.second.declared() == declared; });
  }
  void clear() noexcept { pending_.clear(); }

 private:
  std::unordered_map<std::uint64_t, topic_end> pending_;
};

}  // namespace orc::detail
