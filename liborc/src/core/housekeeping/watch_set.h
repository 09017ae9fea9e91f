// The descriptors that the housekeeping waits for, and the topics that they belong to (epoll). Adding, removing or
// reporting one costs the same however many there are.
//
// epoll has two traps. It forgets a descriptor that was closed, and does not notice that its number was given to
// another file. And it keeps a file that was closed here while a forked child has a copy. So each descriptor reports
// one event and then rests, and arm() does not rely on what was registered earlier: the file that has the number now is
// registered, and one that is gone can report once at most.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "base/files/unique_fd.h"

namespace orc::detail {

struct watched_topic;

// Not thread-safe: the housekeeping thread owns it. Never closes a descriptor. A forked child may destroy it.
class watch_set {
 public:
  struct event {
    int fd = -1;
    watched_topic* owner = nullptr;
  };

  watch_set();

  // False: out of descriptors.
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(epoll_); }
  // Reports the descriptor to this owner once it is readable. Call it again after each event, and when the file behind
  // the number may be another one. A descriptor may have several owners; each gets each event. False: the kernel has no
  // room for more, so this owner must look by itself. Without memory throws std::bad_alloc.
  [[nodiscard]] bool arm(int fd, watched_topic* owner);
  // The owner gets no more events of the descriptor, whether it is still open or not.
  void drop(int fd, const watched_topic* owner) noexcept;

  // Waits until a descriptor is readable or the deadline, unless next() still has events. May return early.
  void wait(monotonic::time_point until) noexcept;
  // The next event; nothing: there is none. An owner may get one that is none of its own, or is over.
  [[nodiscard]] std::optional<event> next() noexcept;

 private:
  static constexpr std::size_t max_events = 64;  // of one wait

  unique_fd epoll_;
  std::unordered_multimap<int, watched_topic*> owners_;
  std::array<int, max_events> ready_{};  // descriptors, whose owners get the events one after the other
  std::size_t count_ = 0;                // of them
  std::size_t next_ = 0;                 // index into ready_
  std::size_t told_ = 0;                 // owners of that one
};

}  // namespace orc::detail
