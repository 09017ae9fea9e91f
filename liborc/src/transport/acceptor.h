// The listening end of a publisher link: accepts connections, and watches them and itself through one epoll descriptor.
#pragma once

#include <sys/epoll.h>

#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "transport/visit.h"

namespace orc::detail {

// Not thread-safe. No call blocks.
class acceptor {
 public:
  // `listener`: non-blocking, listening. `file`: its file, removed at the end.
  [[nodiscard]] static expected<acceptor> make(unique_fd listener, std::string file = {});
  acceptor(acceptor&&) noexcept = default;
  acceptor& operator=(acceptor&&) = delete;
  // Refuses connections that still wait, also while a forked child holds a copy of the descriptor.
  ~acceptor();

  // Readable when there is an event. Constant.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }

  [[nodiscard]] int listener() const noexcept { return listener_.get(); }

  // Accepts the next waiting connection. Nothing: none waits, or no descriptors are left; then it stops listening.
  [[nodiscard]] unique_fd accept() noexcept;
  // Lets newcomers wait in the kernel until resume().
  void pause() noexcept { listen(false); }
  void resume() noexcept {
    if (paused_) listen(true);
  }

  // Watches a connection for input; its events carry `of`. False: the system has no room for it.
  [[nodiscard]] bool watch(int fd, void* of) noexcept;
  void watch_for_room(int fd, void* of, bool wanted) noexcept;
  // From now on only the end of this connection is an event.
  void mute(int fd, void* of) noexcept;
  // Not by closing: a forked child may hold a copy of the descriptor, and epoll would go on watching that.
  void forget(int fd) noexcept;

  // Calls on_event(of, events) for connections with events, and on_connect() when a newcomer waits, until the visit is
  // over. Begins with another one each time, so that connections that always have events keep none out.
  template <typename OnEvent, typename OnConnect>
  void each_event(visit& now, OnEvent on_event, OnConnect on_connect) {
    constexpr int most = 32;
    epoll_event ready[most];
    const int count = ::epoll_wait(events_.get(), ready, most, 0);
    if (count == most) now.cut_short();
    for (int i = 0; i < count && (i == 0 || !now.over()); ++i) {
      const epoll_event& each = ready[first_++ % static_cast<unsigned>(count)];
      if (each.data.ptr == nullptr)
        on_connect();
      else
        on_event(each.data.ptr, static_cast<std::uint32_t>(each.events));
    }
  }

 private:
  acceptor(unique_fd listener, unique_fd events, std::string file) noexcept;
  void listen(bool now) noexcept;

  unique_fd listener_;
  unique_fd events_;
  std::string file_;
  unsigned first_ = 0;  // index of the event to begin with
  bool paused_ = false;
};

}  // namespace orc::detail
