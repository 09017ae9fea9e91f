#include "core/housekeeping/topic_lists.h"

#include <algorithm>
#include <new>
#include <utility>

namespace orc::detail {

// Without memory either throws before the topic is there, and can be called again.
void topic_lists::add(std::shared_ptr<publication> p) {
  open.push_back({.sender = p, .receiver = {}});
  publications.push_back(std::move(p));
}

void topic_lists::add(std::shared_ptr<subscription> s) {
  open.push_back({.sender = {}, .receiver = s});
  const auto named = named_.emplace(s->topic(), s.get());
  try {
    subscriptions.push_back(std::move(s));
  } catch (const std::bad_alloc&) {
    named_.erase(named);
    throw;
  }
}

void topic_lists::remove(const publication& p) noexcept {
  std::erase_if(publications, [&](const auto& each) { return each.get() == &p; });
  std::erase_if(open, [&](const auto& each) { return each.sender.get() == &p; });
}

void topic_lists::remove(const subscription& s) noexcept {
  const auto found =
      std::find_if(subscriptions.begin(), subscriptions.end(), [&](const auto& each) { return each.get() == &s; });
  if (found == subscriptions.end()) return;
  const auto [first, last] = named_.equal_range((*found)->topic());
  named_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == &s; }));
  typed.erase(&s);
  affected.erase(&s);
  std::erase_if(open, [&](const auto& each) { return each.receiver.get() == &s; });
  subscriptions.erase(found);
}

void topic_lists::reopen_all() {
  std::vector<topic_end> all;
  all.reserve(publications.size() + subscriptions.size());
  for (const auto& each : publications) all.push_back({.sender = each, .receiver = {}});
  for (const auto& each : subscriptions) all.push_back({.sender = {}, .receiver = each});
  open = std::move(all);
}

void topic_lists::forget_settled() {
  std::erase_if(open, [](const auto& each) { return each.is_settled(); });
}

}  // namespace orc::detail
