#include "tools/view/snapshot.h"

#include <utility>

namespace orc::view {

namespace {

constexpr int max_asked_alone = 32;

}  // namespace

result take_snapshot(directory& from, bool all, snapshot& found) {
  snapshot made;
  if (auto ok = from.broker(made.broker); !ok) return ok;
  if (auto ok = from.participants(made.participants); !ok) return ok;
  if (auto ok = from.topics("**", made.topics); !ok) return ok;
  if (!all) std::erase_if(made.topics, [](const topic_state& each) { return is_reserved(each.name); });
  int asked = 0;
  for (topic_state& each : made.topics) {
    if (each.subscriptions.size() >= each.subscription_count || ++asked > max_asked_alone) continue;
    topic_state whole;
    result described = from.describe(each.name, whole);
    if (described)
      each = std::move(whole);
    else if (described.code() != errc::unknown_topic)  // it may have gone meanwhile
      return described;
  }
  made.taken = std::chrono::steady_clock::now();
  found = std::move(made);
  return {};
}

}  // namespace orc::view
