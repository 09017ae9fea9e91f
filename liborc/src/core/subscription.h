// The receiving end of a topic: hands samples to the user's threads, and lets the housekeeping work for it. Its parts:
// link_follower has the link, inbox the arrived samples, wait_point the waiting threads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/announcement.h"
#include "core/drain_policy.h"
#include "core/inbox.h"
#include "core/link_follower.h"
#include "core/wait_point.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/subscriber.h"

namespace orc::detail {

class subscription {
 public:
  subscription(std::string topic, const request_options& options, transport_set allowed,
               std::shared_ptr<const transport_list> transports, std::shared_ptr<doorbell> housekeeping_bell,
               const std::string& multicast, bool open, bool alone);

  // ---- users, any thread ----
  [[nodiscard]] message recv(int timeout_ms, pick which = pick::newest) noexcept;
  [[nodiscard]] int fd() noexcept;
  [[nodiscard]] bool connected() const noexcept;
  [[nodiscard]] result wait_connected(int timeout_ms) noexcept;
  [[nodiscard]] link_info link() const;

  // ---- participant ----
  [[nodiscard]] orc::detail::announcement& announcement() noexcept { return announcement_; }
  // Returns whether a later request has the same options. Those that it leaves at the default do not count.
  [[nodiscard]] bool was_made_with(const request_options& again) const noexcept;
  // Ends it: waiting calls return errc::closed, and the link closes.
  void close() noexcept;

  // ---- housekeeping ----
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] wire::request_topic request() const {
    return {topic_, id_, static_cast<std::uint32_t>(options_.max_age_ms)};
  }
  [[nodiscard]] wire::release_topic release() const { return {topic_, id_}; }
  [[nodiscard]] wire::subscription_counters counters();
  // Takes over the state of the topic from the broker. `pushed`: an event, not the answer to a request.
  // `run_directory`: of that broker.
  void update(const wire::topic_state& state, bool pushed, const std::string& run_directory, monotonic::time_point now);
  // Looks for a link, and takes samples out of it when the user does not.
  void step(monotonic::time_point now);
  // Without a broker: why it cannot receive.
  [[nodiscard]] std::optional<error> why_deaf() const;
  // What to poll until the next step, and when that is due at the latest.
  void append_fds(std::vector<int>& to) const;
  // Link descriptor to poll while the user is away, else -1. Poll it from `at` on, then call drain().
  struct absent_link {
    int fd = -1;
    monotonic::time_point at;
  };
  [[nodiscard]] absent_link link_to_drain(monotonic::time_point now) const;
  // Takes samples out of the link. Returns when to poll it again; nothing: call step().
  [[nodiscard]] std::optional<monotonic::time_point> drain(monotonic::time_point now);
  [[nodiscard]] monotonic::time_point next_step(monotonic::time_point now) const;

 private:
  // These need mutex_.
  [[nodiscard]] message take_from_link(pick which) noexcept;
  [[nodiscard]] message take_from_queue() noexcept;
  [[nodiscard]] message hand_out(sample&& s) noexcept;
  bool pull(subscriber_link& link, pick which = pick::newest) noexcept;
  [[nodiscard]] bool should_drain(monotonic::time_point now) noexcept;
  void drain_link(monotonic::time_point now) noexcept;

  const std::string topic_;
  const wire::id id_ = wire::id::random();
  const request_options options_;
  const unsigned generation_;
  orc::detail::announcement announcement_;
  const std::shared_ptr<doorbell> housekeeping_bell_;

  mutable std::mutex mutex_;  // guards the rest
  bool closed_ = false;
  drain_policy drain_policy_;
  inbox inbox_;
  wait_point waiting_;
  link_follower source_;
};

}  // namespace orc::detail
