#include "broker/service/watchers.h"

#include <algorithm>
#include <iterator>

#include "broker/map/client_table.h"

namespace orc {

topic_map::done watchers::add(watcher asked) {
  remove(asked.from);
  const auto known = clients_.find(asked.client);
  const std::size_t own = known == clients_.end() ? 0 : known->second;
  if (own >= client_table::share(most, waiting_.size() - own)) {
    return wire::error{wire::error_code::limit, "too many programs watch the topic map (" + asked.client + " has " +
                                                    std::to_string(own) + " of them): ask without waiting"};
  }
  std::list<watcher> made;
  made.push_back(std::move(asked));
  const auto at = made.begin();
  const auto client = clients_.try_emplace(at->client, 0).first;
  try {
    by_route_.try_emplace(at->from, at);
  } catch (...) {
    if (client->second == 0) clients_.erase(client);
    throw;
  }
  ++client->second;
  earliest_ = std::min(earliest_, at->until);
  waiting_.splice(waiting_.end(), made);
  return wire::ack{};
}

void watchers::remove(routing from) noexcept {
  const auto known = by_route_.find(from);
  if (known == by_route_.end()) return;
  const auto at = known->second;
  const auto client = clients_.find(at->client);
  if (--client->second == 0) clients_.erase(client);
  // Those behind are at the front. If behind_ is one too many, a watcher is looked at twice, which does no harm.
  if (behind_ > 0 && (at == waiting_.begin() || behind_ == waiting_.size())) --behind_;
  by_route_.erase(known);
  waiting_.erase(at);
  if (waiting_.empty()) earliest_ = time::max();
}

watchers::watcher* watchers::next_behind(change_log::revision newest) noexcept {
  if (newest != round_of_) {
    round_of_ = newest;
    behind_ = waiting_.size();
  }
  behind_ = std::min(behind_, waiting_.size());
  return behind_ == 0 ? nullptr : &waiting_.front();
}

void watchers::pass() noexcept {
  waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
  --behind_;
}

void watchers::put_last() noexcept {
  waiting_.splice(std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(behind_)), waiting_, waiting_.begin());
}

watchers::watcher* watchers::next_overdue(time now) noexcept {
  if (now < earliest_) return nullptr;
  earliest_ = time::max();
  for (auto& each : waiting_) {
    if (each.until <= now) {
      earliest_ = now;  // there may be more
      return &each;
    }
    earliest_ = std::min(earliest_, each.until);
  }
  return nullptr;
}

}  // namespace orc
