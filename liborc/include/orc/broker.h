// The participant: a program's session with ORC. Named as in the paper (Listing 1), where it is the program's handle
// on the address broker.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "orc/message.h"
#include "orc/options.h"
#include "orc/publisher.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class participant;
}

// All calls are safe from any thread; two threads on different topics never share a lock. One housekeeping thread per
// participant keeps the broker informed and the links fresh. After fork() the child must make its own participant:
// calls on an inherited one return errc::forked and destroying it is harmless.
class ORC_API broker {
 public:
  // Never throws for a missing broker and does not wait for one.
  broker();
  explicit broker(participant_options options);
  // Ends the publications and subscriptions, tells the address broker, and returns within a second.
  ~broker();
  broker(const broker&) = delete;
  broker& operator=(const broker&) = delete;
  broker(broker&&) noexcept;
  broker& operator=(broker&&) noexcept;

  // Declares `topic` as published by this participant (ORC paper, III.A). Waits for the broker's answer, at most
  // participant_options::broker_timeout_ms. Registering a topic again tells how it stands now: one that was registered
  // without a broker may be refused when there is one, while sends go on to succeed (they reach who is linked). With
  // other options than the first time: errc::bad_argument, and nothing changes.
  // errc::name_taken: a live publication of another participant holds it (the message says which). errc::no_broker:
  // nobody answered; the topic can be sent to all the same and is announced when a broker answers. errc::closed:
  // another thread unregistered the topic meanwhile.
  [[nodiscard]] result register_topic(std::string_view topic, const topic_options& options = {});

  // Asks for the samples of `topic`, whether or not it is registered yet; the link comes up when both ends exist.
  // errc::no_broker and errc::closed as above. errc::timed_out: no link within request_options::connected_within_ms;
  // the request stays.
  [[nodiscard]] result request_topic(std::string_view topic, const request_options& options = {});

  // publisher::send, subscriber::recv and recv_next by name. errc::not_registered / not_requested for unknown topics.
  [[nodiscard]] result send_msg(std::string_view topic, const void* data, std::size_t size) noexcept;
  [[nodiscard]] result send_msg(std::string_view topic, message&& msg) noexcept;
  [[nodiscard]] result send_msg(std::string_view topic, orc::loan&& filled) noexcept;
  [[nodiscard]] message recv_msg(std::string_view topic, int timeout_ms) noexcept;
  [[nodiscard]] message recv_next(std::string_view topic, int timeout_ms) noexcept;
  [[nodiscard]] orc::loan loan(std::string_view topic, std::size_t size) noexcept;

  // Handles for topics that were registered or requested; a false handle for others.
  [[nodiscard]] orc::publisher publisher(std::string_view topic) noexcept;
  [[nodiscard]] orc::subscriber subscriber(std::string_view topic) noexcept;

  // Withdraw a topic. Threads that wait on it return errc::closed. Unknown topics: not_registered / not_requested.
  // unregister_topic waits for the broker's answer, at most broker_timeout_ms and at most a second: then another
  // participant can register the topic.
  result unregister_topic(std::string_view topic);
  result release_topic(std::string_view topic);

  // Endpoint of the broker that answered last; empty when none did yet.
  [[nodiscard]] std::string broker_endpoint() const;

 private:
  [[nodiscard]] errc usable() const noexcept;

  std::unique_ptr<detail::participant> participant_;
};

}  // namespace orc
