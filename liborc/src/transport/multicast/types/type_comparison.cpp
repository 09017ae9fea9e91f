#include "transport/multicast/types/type_comparison.h"

#include <new>

#include "orc/schema.h"
#include "transport/multicast/types/type_parts.h"

namespace orc::detail::multicast {

void type_comparison::step() noexcept {
  try {
    const auto published = read_type(published_);
    if (published && hash_of(*published) == hash_) {
      const auto outcome = check_types(*published, expected_->description, publisher_);
      problem_ = outcome ? std::string() : outcome.error().message();
    }
  } catch (const std::bad_alloc&) {  // no outcome
  }
  done_.store(true, std::memory_order_release);
}

}  // namespace orc::detail::multicast
