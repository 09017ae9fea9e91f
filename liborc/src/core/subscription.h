// The receiving end of a topic: one link to its publication, the queue of arrived samples, and the waiting threads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "core/announcement.h"
#include "core/attempt_pace.h"
#include "core/attendance.h"
#include "core/departure.h"
#include "core/link_selector.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/subscriber.h"
#include "transport/sample_ring.h"

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
  void update(const wire::topic_state& state, bool pushed, const std::string& run_directory);
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
  [[nodiscard]] std::optional<monotonic::time_point> next_step(monotonic::time_point now) const;

 private:
  // These need mutex_.
  bool pump(pick which = pick::newest) noexcept;  // true: something arrived
  void save_samples() noexcept;
  void ring() noexcept;
  void drain_link(monotonic::time_point now);
  bool accept(sample&& s) noexcept;
  [[nodiscard]] bool count(sample& s) noexcept;
  [[nodiscard]] message take() noexcept;
  [[nodiscard]] message take_from_link(pick which) noexcept;
  [[nodiscard]] message hand_out(sample&& s) noexcept;
  [[nodiscard]] bool discard_if_old(const sample& s) noexcept;
  [[nodiscard]] std::uint64_t gap_before(const sample& s) noexcept;
  void skip(const sample& s) noexcept;
  void wait(std::unique_lock<std::mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept;
  void wait_in(sleeper& where, std::unique_lock<std::mutex>& lock, const deadline& until) noexcept;
  void watch_alerts() noexcept;
  void follow(const wire::id& publication, const std::vector<wire::endpoint>& endpoints);
  void listen_openly();
  void adopt(link_selector::choice&& chosen);
  void drop_link() noexcept;
  void watch_path(monotonic::time_point now);
  void look_for_link(monotonic::time_point from);
  [[nodiscard]] bool has_link() const noexcept;
  [[nodiscard]] std::string why_no_link() const;
  [[nodiscard]] std::string public_why_no_link() const;
  [[nodiscard]] bool has_publisher() const noexcept { return !departure_.is_said() && publication_; }
  void watch_for_user(int descriptor, bool watch) noexcept;

  const std::string topic_;
  const wire::id id_ = wire::id::random();
  const request_options options_;
  const unsigned generation_;
  orc::detail::announcement announcement_;
  const std::shared_ptr<doorbell> bell_ = std::make_shared<doorbell>();
  const std::shared_ptr<doorbell> housekeeping_bell_;

  mutable std::mutex mutex_;
  bool closed_ = false;

  // The source of samples.
  const std::string open_address_;  // multicast URL: any sender there is heard while the broker knows no publication
  monotonic::time_point listen_openly_at_ = monotonic::time_point::max();
  wire::id publication_;
  std::vector<wire::endpoint> endpoints_;
  link_selector selector_;
  std::shared_ptr<subscriber_link> link_;
  wire::endpoint linked_to_;
  std::string reason_;
  std::string public_reason_;  // for the broker, which shows it to every user
  std::string last_end_;       // why the last link to this publication ended; empty: it has not
  attempt_pace pace_;
  monotonic::time_point linked_at_;
  monotonic::time_point next_look_at_path_;
  bool is_silent_ = false;  // the link is silent: the selector looks for another one
  departure departure_;

  // Arrived samples.
  const bool in_order_;
  sample_ring queue_;                          // of one place when the newest wins
  std::uint32_t era_ = 0;                      // counts publications
  std::uint64_t newest_ = 0;                   // last sequence that arrived in this era
  std::optional<std::uint64_t> before_first_;  // the sequence before the first sample of this era for us
  std::uint64_t unseen_ = 0;                   // of older eras: dropped from the queue, not counted as missed yet
  std::uint32_t returned_era_ = 0;             // of the last returned sample
  std::uint64_t returned_ = 0;                 // its sequence

  // Waiting threads.
  unsigned waiting_ = 0;
  bool dry_ = false;     // the link was empty at the last look, and its descriptor shows new samples
  bool leader_ = false;  // a waiting thread waits on the link
  std::shared_ptr<subscriber_link> waited_for_;  // that link, also after it was dropped
  unique_fd user_fd_;                            // epoll of the bell and the link
  int watched_alert_ = -1;                       // the link's alert_fd, in user_fd_
  attendance attendance_;

  std::uint64_t received_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t stale_ = 0;      // dropped because of max_age_ms
  std::uint64_t malformed_ = 0;  // of closed links
  std::int64_t age_ns_ = -1;     // of one sample per report: reading the clock for each would cost more than the rest
  bool age_is_old_ = true;
};

}  // namespace orc::detail
