// The receiving end of a topic as a handle: no name look-up per sample.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "orc/message.h"
#include "orc/options.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class subscription;
}

// What links a subscription to its publication now.
struct link_info {
  bool connected = false;
  orc::transport transport{};  // when connected
  // For people; the wording may change. Connected: why this transport, and why none of those preferred to it.
  // Otherwise each way to the publisher with its address, its state now and the likely cause, as in "tcp
  // 10.77.0.2:41901: no answer for 2.1 s: firewall, or the host is down?"; or "no publisher"
  // (liborc/doc/guide/two-hosts.md).
  std::string reason;
  std::uint64_t stale = 0;  // samples dropped because they were older than request_options::max_age_ms
};

// Cheap to copy; all copies are the same subscription. Safe from any thread; of several threads that wait on one
// subscription each sample goes to one.
// The topic stays requested until broker::release_topic or the end of the participant; after that every call
// returns errc::closed.
class ORC_API subscriber {
 public:
  subscriber() noexcept;
  explicit subscriber(std::shared_ptr<detail::subscription> subscription) noexcept;
  ~subscriber();
  subscriber(const subscriber&) noexcept;
  subscriber(subscriber&&) noexcept;
  subscriber& operator=(const subscriber&) noexcept;
  subscriber& operator=(subscriber&&) noexcept;

  explicit operator bool() const noexcept { return subscription_ != nullptr; }

  // The newest sample that was not returned yet (with conflate = 0: the next one), waiting for it at most
  // timeout_ms milliseconds; 0: poll, -1: for ever. Never returns an older sample after a newer one, nor one that is
  // older than request_options::max_age_ms.
  // Signals do not end the wait. Without a sample, message::status() says why: nothing_new, timed_out, closed,
  // forked, bad_argument (timeout below -1), and over shm too_many_messages (at once, when there is one).
  [[nodiscard]] message recv(int timeout_ms) noexcept;

  // The sample after the last one returned, in order, or the oldest after it that is still there; message::missed()
  // counts those between (Ach paper, III: "next" beside "last"). The first is the one that was the newest when the link
  // came up. How far back it goes: over shm topic_options::history; elsewhere,
  // with conflate = 1, only the newest is there. With conflate = 0 it is the same as recv.
  [[nodiscard]] message recv_next(int timeout_ms) noexcept;

  // A descriptor that is readable when recv(0) may have something, for poll, epoll or asyncio. It belongs to the
  // subscription: do not read, write or close it. Call recv(0) until it returns nothing. -1 when none could be made.
  [[nodiscard]] int fd() noexcept;

  // True when a link is up: the publication exists, its identity was checked through the link, and samples flow.
  [[nodiscard]] bool connected() const noexcept;
  // Waits for that, at most timeout_ms (-1: for ever).
  [[nodiscard]] result wait_connected(int timeout_ms) noexcept;
  [[nodiscard]] link_info link() const;

 private:
  std::shared_ptr<detail::subscription> subscription_;
};

}  // namespace orc
