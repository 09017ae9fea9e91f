// Publications of this process by their id. Subscriptions in the same process find them here, which proves that both
// are in the same process.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "wire/control.h"

namespace orc::detail {

class inproc_hub;

// Any thread.
class inproc_registry {
 public:
  void add(const wire::id& publication, std::weak_ptr<inproc_hub> hub) {
    const std::lock_guard lock(mutex_);
    hubs_[publication] = std::move(hub);
  }
  void remove(const wire::id& publication) {
    const std::lock_guard lock(mutex_);
    hubs_.erase(publication);
  }
  [[nodiscard]] std::shared_ptr<inproc_hub> find(const wire::id& publication) const {
    const std::lock_guard lock(mutex_);
    const auto found = hubs_.find(publication);
    return found == hubs_.end() ? nullptr : found->second.lock();
  }

 private:
  mutable std::mutex mutex_;
  std::map<wire::id, std::weak_ptr<inproc_hub>> hubs_;
};

}  // namespace orc::detail
