// The topics that the housekeeping of a participant looks after, and which of them have something open.
#pragma once

#include <memory>
#include <new>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/publication/publication.h"
#include "core/subscription/subscription.h"

namespace orc::detail {

// One of both.
struct topic_end {
  std::shared_ptr<publication> sender = {};
  std::shared_ptr<subscription> receiver = {};

  [[nodiscard]] announcement& declared() const noexcept {
    return sender ? sender->announcement() : receiver->announcement();
  }
  // A publication that is not open has nothing to declare.
  [[nodiscard]] bool can_be_declared() const noexcept { return !sender || sender->is_open(); }
  [[nodiscard]] bool is_settled() const { return can_be_declared() && !declared().next(); }
};

// Each once, in the order in which they came.
class subscription_queue {
 public:
  void insert(subscription* s) {
    if (members_.contains(s)) return;
    order_.push_back(s);
    try {
      members_.insert(s);
    } catch (const std::bad_alloc&) {
      order_.pop_back();
      throw;
    }
  }
  void erase(const subscription* s) noexcept {
    erase_if([s](const subscription* each) { return each == s; });
  }
  template <typename Leaves>
  void erase_if(Leaves leaves) {
    std::erase_if(order_, [&](subscription* each) {
      if (!leaves(each)) return false;
      members_.erase(each);
      return true;
    });
  }
  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return order_.begin(); }
  [[nodiscard]] auto end() const noexcept { return order_.end(); }

 private:
  std::vector<subscription*> order_;
  std::unordered_set<const subscription*> members_;
};

// Not thread-safe: the housekeeping thread owns it. Only add() and remove() change which topics there are.
class topic_lists {
 public:
  std::vector<std::shared_ptr<publication>> publications;
  std::vector<std::shared_ptr<subscription>> subscriptions;

  // With many topics a walk over all of them for each event would be most of the work. So these hold those for which
  // there is something to do. What is listed in vain is removed by the user of the list.
  std::vector<topic_end> open;  // not declared yet, or without an outcome
  subscription_queue typed;     // subscription::has_type_work
  subscription_queue affected;  // by the session, so the housekeeping has to step() them

  void add(std::shared_ptr<publication> p);
  void add(std::shared_ptr<subscription> s);
  void remove(const publication& p) noexcept;
  void remove(const subscription& s) noexcept;
  // All declarations may be open again.
  void reopen_all();
  void forget_settled();

  // Visits the subscriptions to this topic.
  template <typename Visit>
  void for_each_named(std::string_view topic, Visit visit) {
    const auto [first, last] = named_.equal_range(topic);
    for (auto each = first; each != last; ++each) visit(*each->second);
  }

 private:
  std::unordered_multimap<std::string_view, subscription*> named_;
};

// Visits the subscription, and those to the single publications of a shared topic. Housekeeping thread.
template <typename Visit>
void for_each_part(subscription& whole, Visit visit) {
  visit(whole);
  whole.for_each_part(visit);
}

}  // namespace orc::detail
