// The open calls of one client, by their ids, which rise. Few are open at a time, so they are kept side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace orc::detail {

template <class Call>
class open_calls {
 public:
  // Makes place for one more, so that add() does not throw.
  void make_place() {
    if (calls_.size() == calls_.capacity()) calls_.reserve(std::max<std::size_t>(16, 2 * calls_.size()));
  }
  // The id is above all before.
  void add(std::uint64_t id, std::shared_ptr<Call> call) { calls_.emplace_back(id, std::move(call)); }
  // Null: none.
  [[nodiscard]] std::shared_ptr<Call> find(std::uint64_t id) const {
    const auto at = place_of(id);
    return at != calls_.end() && at->first == id ? at->second : nullptr;
  }
  void erase(std::uint64_t id) noexcept {
    const auto at = place_of(id);
    if (at != calls_.end() && at->first == id) calls_.erase(at);
  }
  // The next call after this id, which may have been erased; null: none.
  [[nodiscard]] std::shared_ptr<Call> after(std::uint64_t id) const {
    const auto at = place_of(id + 1);
    return at != calls_.end() ? at->second : nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }
  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return calls_.begin(); }
  [[nodiscard]] auto end() const noexcept { return calls_.end(); }

 private:
  using all = std::vector<std::pair<std::uint64_t, std::shared_ptr<Call>>>;
  [[nodiscard]] typename all::const_iterator place_of(std::uint64_t id) const noexcept {
    return std::lower_bound(calls_.begin(), calls_.end(), id,
                            [](const auto& each, std::uint64_t wanted) { return each.first < wanted; });
  }

  all calls_;
};

}  // namespace orc::detail
