// The topics that the housekeeping of a participant looks after.
#pragma once

#include <memory>
#include <vector>

#include "core/publication.h"
#include "core/subscription.h"

namespace orc::detail {

struct topic_lists {
  std::vector<std::shared_ptr<publication>> publications;
  std::vector<std::shared_ptr<subscription>> subscriptions;
};

// Visits each subscription, and those to the single publications of a shared topic. Housekeeping thread.
template <typename Visit>
void for_each_part(const topic_lists& topics, Visit visit) {
  for (const auto& each : topics.subscriptions) {
    visit(*each);
    each->for_each_part(visit);
  }
}

}  // namespace orc::detail
