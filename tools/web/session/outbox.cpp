#include "tools/web/session/outbox.h"

#include <algorithm>

namespace orc::web {

void outbox::add(outgoing& what) {
  if (what.waits_) return;
  turns_.push_back(&what);
  what.waits_ = true;
}

void outbox::forget(outgoing& what) {
  if (!what.waits_) return;
  std::erase(turns_, &what);
  what.waits_ = false;
}

bool outbox::next(frame& to) {
  while (!turns_.empty()) {
    outgoing& what = *turns_.front();
    turns_.pop_front();
    what.waits_ = false;
    const bool taken = what.take(to);
    if (taken && what.has_more()) add(what);
    if (taken) return true;
  }
  return false;
}

}  // namespace orc::web
