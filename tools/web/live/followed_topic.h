// The subscription to one topic, and what it feeds. Of the receiving thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orc/participant.h"
#include "tools/web/feed/topic_feed.h"
#include "tools/web/live/type_watch.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

// How a topic is received.
struct reception {
  bool every_sample = false;             // else the newest one
  std::chrono::milliseconds pause{100};  // between two samples that are shown

  bool operator==(const reception&) const = default;
};

class followed_topic {
 public:
  followed_topic(std::shared_ptr<topic_feed> feed, participant& from, type_watch& types);
  ~followed_topic();
  followed_topic(const followed_topic&) = delete;
  followed_topic& operator=(const followed_topic&) = delete;

  [[nodiscard]] bool feeds(const topic_feed& feed) const noexcept { return feed_.get() == &feed; }

  // For the source: its number in the epoll, and when it wants a visit.
  std::uint64_t number = 0;
  clock::time_point due = {};

  // Requests the topic, or requests it in another way.
  void receive_as(const reception& how);
  // -1: there is none.
  [[nodiscard]] int fd() noexcept { return subscriber_.fd(); }

  // Receives what is there. Returns when to come again although fd() is not readable; nothing: only then.
  [[nodiscard]] std::optional<clock::time_point> receive(clock::time_point now);
  // Looks at the link and the type, which change without a sample.
  void look(clock::time_point now);

 private:
  enum class received : std::uint8_t { nothing, something, held };

  void request(clock::time_point now);
  [[nodiscard]] received receive_one(clock::time_point now);
  [[nodiscard]] bool is_other_publication(const message& sample) const noexcept;
  void hold(message&& sample, clock::time_point now);
  [[nodiscard]] bool release_held(clock::time_point now);
  void deliver(message&& sample, clock::time_point now);
  void show(const message& sample, clock::time_point now);
  // Returns whether it is another type.
  bool take_type(const type_watch::answer& answer);
  void follow_type();

  const std::shared_ptr<topic_feed> feed_;
  participant& from_;
  type_watch& types_;
  reception how_ = {};
  subscriber subscriber_;
  clock::time_point request_at_ = {};  // again, while there is no subscriber_

  bool any_ = false;         // a sample came
  std::string publication_;  // its publication's id; empty: not known
  bool replaced_ = false;    // the broker has another publication: the next sample is of that one
  std::uint64_t last_sequence_ = 0;
  std::int64_t last_stamp_ns_ = 0;
  // The first sample of a publication waits until its type is known.
  std::optional<message> held_;
  std::uint64_t held_for_ = 0;  // answer of types_
  clock::time_point hold_until_ = {};

  std::optional<message> to_show_;  // came before it was time
  clock::time_point show_at_ = {};
  std::uint64_t missed_ = 0;  // since the one that was shown
  bool type_known_ = false;
  std::shared_ptr<const decoded_type> type_;
  bool was_up_ = false;
  std::vector<std::byte> copy_;
};

}  // namespace orc::web
