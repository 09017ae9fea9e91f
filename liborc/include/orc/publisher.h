// The sending end of a topic, as a handle: no name look-up per sample.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "orc/message.h"
#include "orc/result.h"
#include "orc/timeout.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class publication;
}

// A publication. Cheap to copy: all copies are the same publication. Any thread may make any call; calls on one topic
// wait for each other. The topic stays registered until participant::unregister_topic or the end of the participant.
// Every send may return these codes:
// - closed: the topic was unregistered, or the participant ended;
// - forked: this process is a child of the one that registered the topic;
// - not_registered: the handle is false.
class ORC_API publisher {
 public:
  // A false handle, for which send returns not_registered.
  publisher() noexcept;
  // For ORC itself: participant::register_topic and participant::publisher make handles.
  publisher(std::shared_ptr<detail::publication> publication, orc::result registered) noexcept;
  // The topic stays registered when its handles are gone.
  ~publisher();
  publisher(const publisher&) noexcept;
  publisher(publisher&&) noexcept;
  publisher& operator=(const publisher&) noexcept;
  publisher& operator=(publisher&&) noexcept;

  // True when the topic is registered. That is also so when result() is no_broker: a broker that answers later learns
  // of the topic. Stays true after the topic was unregistered.
  explicit operator bool() const noexcept { return publication_ != nullptr; }
  // What participant::register_topic found.
  [[nodiscard]] const orc::result& result() const noexcept { return registered_; }
  // Same as result().error().
  [[nodiscard]] const orc::error& error() const noexcept { return registered_.error(); }

  // Sends one sample to every subscriber and returns. Never waits for a subscriber, the broker or the network
  // (liborc/doc/contract.md, promise 2; ORC paper, section II). Copies the bytes once, however many subscribers there
  // are. Keeps the sample for subscribers that join later, unless topic_options::keep_last is false.
  // - bad_argument: null data with size > 0, or a sample that is too large for a transport of this topic. The limit is
  //   1 GiB over ipc and tcp, and 90 to 255 MiB over multicast (liborc/doc/contract.md); the message states it.
  // - no_memory: for the copy. Subscribers over ipc, tcp and multicast, which need none, may have the sample; those
  //   that join later get none.
  // - closed, forked and not_registered as above.
  [[nodiscard]] orc::result send(const void* data, std::size_t size) noexcept;
  // The same with a stamp other than the time of this call, in ns since the Unix epoch: of a recording that plays, or
  // of another network where the sample was sent. It becomes message::stamp_ns(), so a subscriber with max_age drops
  // a sample whose stamp is too old. Over multicast it is lost: LCM's format has no stamps.
  // - bad_argument: also a stamp below 1.
  [[nodiscard]] orc::result send(const void* data, std::size_t size, std::int64_t stamp_ns) noexcept;

  // Sends a received message on, without copying its bytes where the transport allows it (inproc: always). The message
  // is empty afterwards, unless the result is not_registered.
  // - bad_argument: the message is empty, or too large as above.
  // - no_memory; closed, forked and not_registered as above.
  [[nodiscard]] orc::result send(message&& msg) noexcept;

  // Returns memory for a sample of `size` bytes, to fill in place and send. False when there is no memory, and when
  // send would return closed, forked or not_registered.
  [[nodiscard]] orc::loan loan(std::size_t size) noexcept;
  // Sends loaned memory. It belongs to ORC afterwards, unless the result is not_registered. An empty loan is a
  // bad_argument. Otherwise the same as send of bytes.
  [[nodiscard]] orc::result send(orc::loan&& filled) noexcept;

  // Returns how many links are up. A killed subscriber counts until its connection is seen to be gone. LCM
  // programs do not count. Returns 0 after fork() and for a false handle.
  [[nodiscard]] std::size_t readers() const noexcept;
  // Waits until readers() is at least `count`, at most as long as the timeout. 0 returns at once, orc::forever waits
  // without limit. Signals do not end the wait.
  // - timed_out: fewer links were up.
  // - bad_argument: a negative timeout.
  // - closed, forked and not_registered as above.
  [[nodiscard]] orc::result wait_readers(std::size_t count, std::chrono::nanoseconds timeout) noexcept;
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] orc::result wait_readers(std::size_t count, int timeout_ms) noexcept {
    return wait_readers(count, detail::timeout_of(timeout_ms));
  }

 private:
  std::shared_ptr<detail::publication> publication_;
  orc::result registered_ = errc::not_registered;  // a copy of it copies no text
};

}  // namespace orc
