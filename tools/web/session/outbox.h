// What a client gets next: what it has open takes turns, and each has at most one frame at a time.
#pragma once

#include <cstddef>
#include <deque>

#include "tools/web/session/frame.h"

namespace orc::web {

// Something that a client is shown: a topic's newest sample, a plot, the list of topics. It writes its frame when its
// turn comes, from what is newest then. So nothing waits in a queue, however slowly a client reads.
class outgoing {
 public:
  outgoing() = default;
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;
  virtual ~outgoing() = default;

  // Writes the next frame. False: there is nothing to send.
  virtual bool take(frame& to) = 0;
  // Whether another frame is there: it gets another turn, behind the others.
  [[nodiscard]] virtual bool has_more() const { return false; }

 private:
  friend class outbox;
  bool waits_ = false;
};

// One thread at a time.
class outbox {
 public:
  // Gives it a turn, unless it waits for one. It must live until its turn, or until forget().
  void add(outgoing& what);
  void forget(outgoing& what);
  // Writes the frame of the next one that has something to send. False: none has.
  bool next(frame& to);
  [[nodiscard]] bool empty() const noexcept { return turns_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return turns_.size(); }

 private:
  std::deque<outgoing*> turns_;
};

}  // namespace orc::web
