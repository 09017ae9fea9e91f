// Divides the broker's places and turns among its connections: by origin (a user of this host, or a remote address), so
// that no origin can take all places or all of the time. Pure state: no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace orc {

// A connection is a *stranger* until its participant says Hello, and again when that participant is gone.
class fair_share {
 public:
  using routing = std::uint64_t;
  struct bounds {
    std::size_t total = 4'096;
    std::size_t of_strangers = 1'024;
    std::size_t of_one_origin = 3'072;  // of `total`
  };

  explicit fair_share(bounds limits) : limits_(limits) {}

  struct admission {
    bool admitted = false;
    std::optional<routing> in_place_of;  // this stranger has to be removed first
  };
  // Decides whether a connection of `origin` may come in. When its origin has its share, the oldest stranger of that
  // origin makes room. When all places or those of strangers are taken, first_to_go() does. A participant never does.
  [[nodiscard]] admission ask(const std::string& origin) const noexcept;
  void add(routing connection, const std::string& origin);  // as a stranger; must be new
  void remove(routing connection) noexcept;
  void settle(routing connection, bool participant) noexcept;
  // The next stranger to make room: the oldest of the origin that has the most; of several such origins, the oldest.
  [[nodiscard]] std::optional<routing> first_to_go() const noexcept;
  // True when there are too many strangers, because participants became strangers.
  [[nodiscard]] bool crowded() const noexcept { return strangers_ > limits_.of_strangers; }

  // The connection wants a turn. A second call has no effect.
  void ready(routing connection) noexcept;
  [[nodiscard]] bool any_ready() const noexcept { return !waiting_.empty(); }
  // Returns the next turn. Origins take turns; within an origin participants and strangers alternate, and the
  // connections of each kind take turns. Only when any_ready().
  [[nodiscard]] routing next() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return connections_.size(); }
  [[nodiscard]] std::size_t strangers() const noexcept { return strangers_; }

 private:
  // Connections change their list by splicing, which needs no memory.
  using chain = std::list<routing>;
  struct origin {
    std::size_t connections = 0;
    chain strangers;  // oldest first
    chain participants;
    chain ready_participants;  // longest waiting first
    chain ready_strangers;
    chain resting;
    bool participants_next = true;
    std::list<origin*>::iterator turn;  // in waiting_ or resting_
    [[nodiscard]] chain& ready(bool participant) { return participant ? ready_participants : ready_strangers; }
    [[nodiscard]] bool any_ready() const { return !ready_participants.empty() || !ready_strangers.empty(); }
  };
  using origins = std::map<std::string, origin>;
  struct connection {
    origins::iterator from;
    chain::iterator role;
    chain::iterator turn;
    std::uint64_t stranger_since;  // a counter, not a time
    bool participant = false;
    bool ready = false;
  };

  const bounds limits_;
  origins origins_;
  std::unordered_map<routing, connection> connections_;
  std::size_t strangers_ = 0;
  std::uint64_t last_stranger_ = 0;
  std::list<origin*> waiting_;  // with connections that are ready
  std::list<origin*> resting_;
};

}  // namespace orc
