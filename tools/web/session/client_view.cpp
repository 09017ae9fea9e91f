#include "tools/web/session/client_view.h"

#include <algorithm>
#include <utility>

namespace orc::web {

void give_turn(outbox& turns, client_view& view, clock::time_point now, clock::time_point& earliest) {
  const auto when = view.refresh(now);
  if (when <= now)
    turns.add(view);
  else
    earliest = std::min(earliest, when);
}

clock::time_point text_replies::refresh(clock::time_point now) {
  return texts_.empty() ? clock::time_point::max() : now;
}

bool text_replies::take(frame& to) {
  if (texts_.empty()) return false;
  to = {.head = std::move(texts_.front())};
  bytes_ -= to.head.size();
  texts_.pop_front();
  return true;
}

}  // namespace orc::web
