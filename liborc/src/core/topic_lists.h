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

}  // namespace orc::detail
