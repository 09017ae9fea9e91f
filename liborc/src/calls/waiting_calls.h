// The requests of a service that wait. The programs that call it are served in turn, as are the clients of each. When
// there is no room for a request, the program that has most loses its newest ones; if that is the one that sent the
// request, another client of it does.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "calls/service_call.h"

namespace orc::detail {

// Needs a lock.
class waiting_calls {
 public:
  using calls = std::list<std::shared_ptr<service_call>>;

  waiting_calls(std::size_t most, std::size_t most_bytes, bool replaces) noexcept
      : most_(most), most_bytes_(most_bytes), replaces_(replaces) {}

  struct admission {
    bool admitted = false;
    calls late = {};                              // removed, past their deadlines
    calls displaced = {};                         // removed, to make room
    std::shared_ptr<service_call> replaced = {};  // an older one of the client
  };
  // When no other call waits, it may be of any size.
  [[nodiscard]] admission add(const std::shared_ptr<service_call>& call, monotonic::time_point now);
  // Removes the first call of the program and client that were served longest ago. Null: none waits.
  [[nodiscard]] std::shared_ptr<service_call> take_next();
  // The client's first call; null: none.
  [[nodiscard]] std::shared_ptr<service_call> first_of(const service_client& client) const;
  // False: it does not wait.
  bool remove(const service_call& call);
  // Removes and forgets all of the client's.
  [[nodiscard]] calls remove_all(const service_client& client);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  // A client's calls. It stays until remove_all(), so that a call adds one node only.
  struct lane {
    const service_client* client = nullptr;
    std::string_view program = {};
    calls waiting = {};
    std::size_t bytes = 0;
  };
  using lanes = std::list<lane>;

  [[nodiscard]] lane& lane_of(const service_client& client);
  [[nodiscard]] lanes::iterator find(const service_client& client) noexcept;
  // What would wait.
  struct room {
    std::size_t calls = 0;
    std::size_t bytes = 0;
    void take(const service_call& call) noexcept;
  };
  [[nodiscard]] bool fits(const room& needed) const noexcept;
  // Moves the newest calls of another client to `displaced`, until what is needed fits. False: it would not, or that
  // program or client would have fewer; nothing is moved.
  [[nodiscard]] bool make_room(const lane& to, room needed, calls& displaced);
  // Moves them back to the ends of their lanes.
  void give_back(calls& displaced);
  // Moves it from its lane to `to`.
  void move(lane& from, calls::iterator at, calls& to) noexcept;
  void remove_late(monotonic::time_point now, calls& to) noexcept;

  const std::size_t most_;
  const std::size_t most_bytes_;
  const bool replaces_;
  lanes lanes_;  // the one that is served next first
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  monotonic::time_point late_at_ = monotonic::time_point::max();  // no deadline is before
};

}  // namespace orc::detail
