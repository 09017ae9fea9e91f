// Which participants get an event because a topic moved, and when. A topic that moves more often than moves_at_once and
// then moves_per_second makes no events in between: the next one has its newest state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "broker/map/table_records.h"
#include "wire/control.h"

namespace orc {

class topic_events {
 public:
  using time = table::time;
  static constexpr int moves_at_once = 10;
  static constexpr int moves_per_second = 10;

  // An event to send: the state of a topic changed, and the participants on these connections get it, each once.
  struct event {
    std::vector<std::uint64_t> to;
    wire::topic_state state;
  };

  topic_events() = default;
  topic_events(const topic_events&) = delete;
  topic_events& operator=(const topic_events&) = delete;

  // Gives a new topic what it needs to be queued. Throws std::bad_alloc; notify() and forget() cannot fail.
  static void prepare(table::row& which);
  // The topic moved: those who requested it get an event.
  void notify(table::row& which, time now) noexcept;
  // The topic goes.
  void forget(table::row& which) noexcept;

  // Returns an event that is due, for at most `budget` participants, and reduces `budget` by them.
  [[nodiscard]] std::optional<event> next(time now, std::size_t& budget);
  [[nodiscard]] std::optional<time> next_time() const noexcept;

 private:
  void enqueue(table::row& which, time now) noexcept;
  void dequeue(table::row& which) noexcept;

  table::event_queue queue_;
};

}  // namespace orc
