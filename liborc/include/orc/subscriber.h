// The receiving end of a topic, as a handle: no name look-up per sample.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orc/message.h"
#include "orc/options.h"
#include "orc/prediction.h"
#include "orc/result.h"
#include "orc/timeout.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class subscription;
}

// The link between a subscription and its publication, as it is now. Of a shared topic: all links together.
struct link_info {
  bool connected = false;      // a link is up
  orc::transport transport{};  // valid while connected
  // For people; the wording may change. When connected: why this transport was chosen, and why no better one, and with
  // wait::predictive why the next sample is not predicted ("not predicted: the stream has no known period"). Otherwise
  // "no publisher", or each way to the publisher with its address, its current state and the likely cause, as in
  // "tcp 10.77.0.2:41901: no answer for 2.1 s: firewall, or the host is down?" (liborc/doc/guide/two-hosts.md).
  std::string reason;
  std::uint64_t stale = 0;          // samples dropped because they were older than request_options::max_age
  prediction_info prediction = {};  // with wait::predictive
};

// A publisher of a shared topic, as a subscription knows it.
struct publisher_info {
  std::uint32_t number = 0;  // message::publisher(); a publisher that registers again gets another one
  std::string id = {};       // publication_state::id, the same in all programs
  std::string name = {};     // participant_state::name
  std::string host = {};     // participant_state::host
  std::uint32_t pid = 0;     // in its own pid namespace
  bool connected = false;    // a link to it is up
};

// A subscription. Cheap to copy: all copies are the same subscription. Any thread may make any call. When several
// threads wait on one subscription, each sample goes to one of them. The topic stays requested until
// participant::release_topic or the end of the participant. After that every receive returns errc::closed.
class ORC_API subscriber {
 public:
  // A false handle, for which recv returns not_requested.
  subscriber() noexcept;
  // For ORC itself: participant::request_topic and participant::subscriber make handles.
  subscriber(std::shared_ptr<detail::subscription> subscription, orc::result requested) noexcept;
  // The topic stays requested when its handles are gone.
  ~subscriber();
  subscriber(const subscriber&) noexcept;
  subscriber(subscriber&&) noexcept;
  subscriber& operator=(const subscriber&) noexcept;
  subscriber& operator=(subscriber&&) noexcept;

  // True when the topic is requested. That is also so when result() is no_broker, timed_out or type_mismatch: the link
  // comes up when the reason is gone. Stays true after the topic was released.
  explicit operator bool() const noexcept { return subscription_ != nullptr; }
  // What participant::request_topic found.
  [[nodiscard]] const orc::result& result() const noexcept { return requested_; }
  // Same as result().error().
  [[nodiscard]] const orc::error& error() const noexcept { return requested_.error(); }

  // Returns the newest sample that was not returned yet; with conflate = 0, the next one in order. Waits for it at most
  // as long as the timeout; 0 polls, orc::forever waits without limit. Signals do not end the wait. Never returns an
  // older sample after a newer one, and never one that is older than request_options::max_age. Without a sample,
  // message::status() is one of these:
  // - nothing_new: a poll found nothing;
  // - timed_out: no sample came in time;
  // - too_many_messages, over shm: a sample is there, but the program holds max_messages of this subscription. Returned
  //   at once;
  // - bad_argument: a negative timeout;
  // - closed: the topic was released or the participant ended, also during the wait;
  // - forked: this process is a child of the one that requested the topic;
  // - not_requested: the handle is false.
  [[nodiscard]] message recv(std::chrono::nanoseconds timeout) noexcept;
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] message recv(int timeout_ms) noexcept { return recv(detail::timeout_of(timeout_ms)); }

  // Returns the sample after the last one returned, in order. If that one is gone, returns the oldest later one;
  // message::missed() counts the samples between them. The first is the newest sample at the time the link came up.
  // Over shm it goes back topic_options::history samples; over other transports, with conflate = 1, only the newest is
  // there. With conflate = 0 it is the same as recv. Waits and fails as recv does. Source: Ach paper, III, "next"
  // beside "last".
  [[nodiscard]] message recv_next(std::chrono::nanoseconds timeout) noexcept;
  // The same with a timeout in ms.
  [[nodiscard]] message recv_next(int timeout_ms) noexcept { return recv_next(detail::timeout_of(timeout_ms)); }

  // Returns a descriptor for poll, epoll or asyncio that is readable when recv(0) may return a sample. When it is
  // readable, call recv(0) until it returns nothing. It belongs to the subscription: do not read, write or close it.
  // Returns -1 when no descriptor could be made, after fork(), and for a false handle.
  [[nodiscard]] int fd() noexcept;

  // True while a link is up: the publication exists, its identity was checked through the link, and samples flow. Never
  // waits.
  [[nodiscard]] bool connected() const noexcept;
  // Waits until a link is up, at most as long as the timeout; 0 polls, orc::forever waits without limit. Returns
  // timed_out, type_mismatch (the publication has another type; the message says how it differs), bad_argument (a
  // negative timeout), closed, forked or not_requested on failure. On an open multicast channel, any sender of which
  // may have another type, it returns type_mismatch only after the timeout, in place of timed_out.
  [[nodiscard]] orc::result wait_connected(std::chrono::nanoseconds timeout) noexcept;
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] orc::result wait_connected(int timeout_ms) noexcept {
    return wait_connected(detail::timeout_of(timeout_ms));
  }
  // Returns type_mismatch while the broker names a publication with another type; the message says how it differs.
  // Returns ok otherwise: senders on an open multicast channel do not count. Never waits. A caller that waits in slices
  // uses it to tell a mismatch that ends the wait from one that does not. Returns closed, forked or not_requested on
  // failure.
  [[nodiscard]] orc::result check_type() const noexcept;
  // Returns the link as it is now. Never waits; may allocate. Not connected after fork() and for a false handle.
  [[nodiscard]] link_info link() const;

  // Returns the publishers of a shared topic, as the broker names them. Empty for other topics. Never waits; may
  // allocate.
  [[nodiscard]] std::vector<publisher_info> publishers() const;
  // Returns the publisher of a message of this subscription. The last 64 that are gone are remembered. All fields are
  // empty for others, and for a message of a topic that is not shared. Never waits; may allocate.
  [[nodiscard]] publisher_info publisher_of(const message& of) const;

 private:
  std::shared_ptr<detail::subscription> subscription_;
  orc::result requested_ = errc::not_requested;  // a copy of it copies no text
};

}  // namespace orc
