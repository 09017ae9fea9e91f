// Turns what the broker knows, asked again and again, into figures.
#pragma once

#include <string>
#include <unordered_map>

#include "tools/view/figures.h"
#include "tools/view/meters.h"
#include "tools/view/snapshot.h"

namespace orc::view {

class system_meter {
 public:
  // Takes the next snapshot. A publication or subscription that is new, also because its program or the broker
  // restarted, has no rates until its second report: they are never negative, and never of two different ones. What is
  // gone is forgotten.
  [[nodiscard]] system_figures take(snapshot now);

  // Whether each publication has a rate, or is so slow that it has none yet.
  [[nodiscard]] bool knows_rates() const noexcept { return rates_known_; }

 private:
  template <class Meter>
  struct followed {
    Meter meter;
    std::uint64_t round = 0;  // in which it was seen
  };
  template <class Meter>
  using by_id = std::unordered_map<std::string, followed<Meter>>;

  template <class Meter>
  [[nodiscard]] Meter& meter_of(by_id<Meter>& all, const std::string& id);
  [[nodiscard]] topic_figures figures_of(topic_state&& topic);
  [[nodiscard]] publication_figures figures_of(publication_state&& publication);
  [[nodiscard]] subscription_figures figures_of(subscription_state&& subscription);
  void forget_what_is_gone();

  by_id<publication_meter> publications_;
  by_id<subscription_meter> subscriptions_;
  std::uint64_t round_ = 0;
  bool rates_known_ = false;
};

}  // namespace orc::view
