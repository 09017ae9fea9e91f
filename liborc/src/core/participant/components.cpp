#include "core/participant/components.h"

#include <utility>

#include "core/participant/participant.h"
#include "core/subscription/subscription.h"

namespace orc::detail {

components::components(participant& owner) : public_(std::unique_ptr<participant>(&owner)) {
  public_.full_names_ = true;
}

components::~components() {
  end();
  (void)public_.participant_.release();  // the owner is being destroyed already
}

std::shared_ptr<participant_component> components::find_or_make(const void* key, const maker& make) {
  const std::lock_guard lock(mutex_);
  if (ended_) return nullptr;
  auto& found = by_key_[key];
  if (!found) found = make(public_);
  return found;
}

std::shared_ptr<participant_component> components::of(orc::participant& by, const void* key, const maker& make) {
  return by.usable() == errc::ok ? by.participant_->components().find_or_make(key, make) : nullptr;
}

errc components::why_none(const orc::participant& by) noexcept {
  const errc usable = by.usable();
  return usable == errc::ok ? errc::closed : usable;
}

std::shared_ptr<const subscription> components::watched(const orc::participant& by, std::string_view topic) noexcept {
  return by.usable() == errc::ok ? by.participant_->subscription_of(topic) : nullptr;
}

bool components::is_linked(const subscription& of) noexcept { return of.is_linked(); }

void components::end() noexcept {
  decltype(by_key_) ending;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    ending.swap(by_key_);
  }
  for (const auto& [key, component] : ending) {
    if (component) component->end();
  }
}

}  // namespace orc::detail
