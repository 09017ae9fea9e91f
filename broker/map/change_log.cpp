#include "broker/map/change_log.h"

#include <utility>

namespace orc {

change_log::handle change_log::add(const entry& what) {
  const auto made = there_.try_emplace(there_.end(), newest_ + 1, what);
  ++newest_;
  return made;
}

void change_log::changed(handle& which) noexcept {
  auto node = there_.extract(which);
  node.key() = ++newest_;
  which = there_.insert(there_.end(), std::move(node));
}

void change_log::gone(handle which, std::string&& name) noexcept {
  auto node = there_.extract(which);
  node.key() = ++newest_;
  node.mapped().topic = nullptr;
  node.mapped().participant = nullptr;
  node.mapped().name = std::move(name);
  gone_.insert(gone_.end(), std::move(node));
  if (gone_.size() <= max_gone_) return;
  complete_after_ = gone_.begin()->first;
  gone_.erase(gone_.begin());
}

change_log::walk::walk(const change_log& of, revision after) noexcept
    : there_(of.there_.upper_bound(after)),
      there_end_(of.there_.end()),
      gone_(of.gone_.upper_bound(after)),
      gone_end_(of.gone_.end()) {}

}  // namespace orc
