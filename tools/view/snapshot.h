// What the broker knows at one moment.
#pragma once

#include <chrono>
#include <vector>

#include "orc/directory.h"

namespace orc::view {

struct snapshot {
  std::chrono::steady_clock::time_point taken = {};  // when the last answer came
  broker_state broker = {};
  std::vector<topic_state> topics = {};  // in the order of their names
  std::vector<participant_state> participants = {};
};

// Asks the broker for all of it. Waits as the directory's calls do, and fails as they do; `found` is then untouched.
// Topics with more subscriptions than a list shows are asked for one by one, at most 32 of them. Unless `all`, without
// ORC's own topics (is_reserved).
[[nodiscard]] result take_snapshot(directory& from, bool all, snapshot& found);

}  // namespace orc::view
