// The connections that wait for a change of the topic map. Each waits for one question, and a watcher here is only that
// question with its position.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "broker/map/change_log.h"
#include "broker/map/topic_map.h"
#include "wire/control.h"

namespace orc {

class watchers {
 public:
  using time = topic_map::time;
  using routing = topic_map::routing;

  static constexpr std::size_t most = 1'024;  // one client may have half of what the others leave
  static constexpr std::chrono::milliseconds max_wait{10'000};

  struct watcher {
    routing from = 0;
    std::uint64_t request = 0;
    std::string client;
    wire::watch what;  // no change up to its position matches it
    time until;
  };

  // Lets it wait. It takes the place of an earlier question of the same connection, which stays unanswered. Returns the
  // error for the watcher when its client has too many.
  [[nodiscard]] topic_map::done add(watcher asked);
  void remove(routing from) noexcept;

  // Returns the next watcher that may not know the newest revision, until it is removed or passed. nullptr: none.
  [[nodiscard]] watcher* next_behind(change_log::revision newest) noexcept;
  // The watcher of next_behind() knows the newest revision.
  void pass() noexcept;
  // The others that are behind come before the watcher of next_behind().
  void put_last() noexcept;
  [[nodiscard]] bool any_behind(change_log::revision newest) const noexcept {
    return !waiting_.empty() && (behind_ > 0 || newest != round_of_);
  }

  // Returns a watcher whose time to wait is over. nullptr: none.
  [[nodiscard]] watcher* next_overdue(time now) noexcept;
  // May be earlier than the first watcher's time.
  [[nodiscard]] std::optional<time> next_deadline() const noexcept {
    return waiting_.empty() ? std::nullopt : std::optional(earliest_);
  }

 private:
  std::list<watcher> waiting_;  // those behind first
  std::unordered_map<routing, std::list<watcher>::iterator> by_route_;
  std::map<std::string, std::size_t> clients_;
  std::size_t behind_ = 0;  // how many of waiting_ may not know round_of_
  change_log::revision round_of_ = 0;
  time earliest_ = time::max();
};

}  // namespace orc
