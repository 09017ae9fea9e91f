#include "broker/map/departures.h"

#include <utility>

namespace orc {

departures::~departures() {
  while (first_) first_ = std::move(first_->next);  // a loop, because recursion might be too deep
}

void departures::add(std::unique_ptr<table::participant> gone) noexcept {
  gone->leaving = true;
  table_.types.drop_upload(gone->types);
  gone->next = std::move(first_);
  first_ = std::move(gone);
  ++count_;
}

void departures::clean_up(table::time now, std::size_t& most) noexcept {
  while (first_ && most > 0) {
    auto& gone = *first_;
    for (; most > 0 && !gone.subscriptions.empty(); --most) table_.drop_subscription(gone, gone.subscriptions.begin());
    for (; most > 0 && !gone.publications.empty(); --most) {
      const auto [id, at] = *gone.publications.begin();
      table_.drop_publication(at, id);
      table_.notify(at, now);
      table_.unlinked(at);
    }
    if (!gone.subscriptions.empty() || !gone.publications.empty()) return;
    --gone.by->participants;
    table_.clients.drop_if_empty(*gone.by);
    first_ = std::move(gone.next);
    --count_;
    if (most > 0) --most;
  }
}

}  // namespace orc
