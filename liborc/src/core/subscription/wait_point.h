// The one place where a subscription's user waits: threads in a receive, and the user's own event loop. A link reports
// samples in one of three ways (transport/transport.h, subscriber_link), and this class waits for all of them.
//
// One waiting thread, the leader, waits for the link. The others sleep on the bell, which rings when the leader leaves.
// liborc/doc/design/waiting-threads.md says why.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "base/threads/doorbell.h"
#include "base/threads/pi_mutex.h"
#include "transport/transport.h"

namespace orc::detail {

// Not thread-safe, except bell(): the subscription serialises. wait() releases its lock while the thread waits.
//
// Use: take a ticket, look for samples, then wait with the ticket. A ring or a sample after the ticket was taken ends
// the wait.
class wait_point {
 public:
  // `spin`: how long the leader looks out before it sleeps.
  explicit wait_point(std::chrono::nanoseconds spin) : spin_(spin) {}

  // Rings when the state of the subscription changes, and for samples of links that have no other way. Any thread.
  [[nodiscard]] const std::shared_ptr<doorbell>& bell() const noexcept { return bell_; }

  // ---- the link ----
  // False: out of descriptors, so no thread could wait for this link.
  [[nodiscard]] bool can_watch(const subscriber_link& link) const noexcept;
  // From now on threads and the event loop wait for this link, until forget(). Wakes all threads.
  void watch(subscriber_link& link) noexcept;
  // Stops waiting for the link. Wakes all threads, and keeps the link alive while one still waits for it.
  void forget(std::shared_ptr<subscriber_link> link) noexcept;
  // Call it when the watched link turns out to be lost: its descriptor stays readable, which would keep the user's
  // event loop busy.
  void link_is_lost() noexcept;
  // The same for a descriptor that stands for several links, while no link is watched; -1: for none any more.
  [[nodiscard]] bool can_watch_links() const noexcept { return bell_->fd() >= 0; }
  void watch(int links) noexcept;
  // Call it after a look at the watched link: a sleeper has a descriptor for the user some time after the request.
  void look_for_alerts() noexcept {
    if (user_fd_ && alert_ < 0) poll_alerts();
  }

  // ---- waiting ----
  // True: a thread waits, or the user has the descriptor.
  [[nodiscard]] bool is_awaited() const noexcept { return waiting_ != 0 || user_fd_; }
  [[nodiscard]] std::uint32_t ticket() noexcept {
    if (!leader_) bell_->clear();  // else this thread would take the leader's wake-up
    return bell_->ticket();
  }
  // True: a thread waits for the link, or looks out. Another one can only sleep.
  [[nodiscard]] bool is_led() const noexcept { return leader_; }
  // Waits until something arrives after `ticket` was taken, someone rings, or the deadline. May return early.
  void wait(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept;
  // The same, but the leader spins; another thread returns at once. True: something arrived, or someone rang.
  [[nodiscard]] bool look_out(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept;
  // Wakes all threads, whatever they wait for, and the user's event loop.
  void ring() noexcept;
  // Descriptor for the user's event loop: readable when a receive may find something. Made on first use; -1: out of
  // descriptors.
  [[nodiscard]] int fd() noexcept;
  [[nodiscard]] bool has_fd() const noexcept { return static_cast<bool>(user_fd_); }

 private:
  void sleep_in(sleeper& where, std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept;
  [[nodiscard]] bool look_at(int descriptor, std::uint32_t ticket, const deadline& until) const noexcept;
  // What the leader waits for: one of both, or the bell alone.
  struct place {
    sleeper* where = nullptr;
    int descriptor = -1;
  };
  [[nodiscard]] place watched() const noexcept;
  void leave() noexcept;
  void ask_for_alerts() noexcept;
  void poll_alerts() noexcept;
  void poll_for_user(int descriptor, bool poll) noexcept;

  const std::chrono::nanoseconds spin_;
  const std::shared_ptr<doorbell> bell_ = std::make_shared<doorbell>();
  subscriber_link* link_ = nullptr;             // the watched one
  int links_ = -1;                              // a descriptor for several links, instead of link_
  unsigned waiting_ = 0;                        // threads
  bool leader_ = false;                         // one of them waits for the link
  std::shared_ptr<subscriber_link> forgotten_;  // the link that the leader waits for, once it is not watched any more
  unique_fd user_fd_;                           // epoll of the bell and the link
  int alert_ = -1;                              // the sleeper's descriptor, in user_fd_
};

}  // namespace orc::detail
