// The receiving end of a topic: hands samples to the user's threads, and lets the housekeeping work for it. Its parts:
// link_follower has the link, inbox the arrived samples, wait_point the waiting threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/threads/pi_mutex.h"
#include "core/broker/announcement.h"
#include "core/links/link_follower.h"
#include "core/subscription/drain_policy.h"
#include "core/subscription/inbox.h"
#include "core/subscription/predictor.h"
#include "core/subscription/shared_sources.h"
#include "core/subscription/wait_point.h"
#include "core/trace/interceptor.h"
#include "core/types/type_gate.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/subscriber.h"
#include "wire/described_type.h"

namespace orc::detail {

class subscription {
 public:
  static constexpr auto between_news = std::chrono::seconds(1);

  subscription(std::string topic, const request_options& options, transport_set allowed,
               std::shared_ptr<const transport_list> transports, std::shared_ptr<doorbell> housekeeping_bell,
               const std::string& multicast, bool open, bool alone);
  // A part of a subscription to a shared topic: receives from one publication. The broker does not know it.
  struct one_publisher {};
  subscription(one_publisher, const subscription& of);
  ~subscription();
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;

  // ---- users, any thread ----
  [[nodiscard]] message recv(std::chrono::nanoseconds timeout, pick which = pick::newest) noexcept;
  [[nodiscard]] int fd() noexcept;
  [[nodiscard]] bool connected() const noexcept;
  // components::is_linked
  [[nodiscard]] bool is_linked() const noexcept;
  [[nodiscard]] result wait_connected(std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] result wait_connected(const deadline& until) noexcept;
  [[nodiscard]] result check_type() const noexcept;
  // Waits until it is known whether the types match, if there is a publication. Returns type_mismatch, or ok, also at
  // the deadline.
  [[nodiscard]] result wait_checked(const deadline& until) noexcept;
  [[nodiscard]] link_info link() const;
  [[nodiscard]] std::vector<publisher_info> publishers() const;
  [[nodiscard]] publisher_info publisher(std::uint32_t number) const;

  // ---- participant ----
  // That it expects; nothing: any.
  [[nodiscard]] const std::shared_ptr<const described_type>& type() const noexcept { return type_; }
  [[nodiscard]] orc::detail::announcement& announcement() noexcept { return announcement_; }
  [[nodiscard]] trace_number& number() noexcept { return number_; }
  // Returns whether a later request has the same options. Those that it leaves at the default do not count.
  [[nodiscard]] bool was_made_with(const request_options& again) const noexcept;
  // Ends it: waiting calls return errc::closed, and the link closes.
  void close() noexcept;

  // ---- housekeeping ----
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] wire::request_topic request() const;
  [[nodiscard]] wire::release_topic release() const { return {topic_, id_}; }
  [[nodiscard]] wire::subscription_counters counters();
  // Takes over the state of the topic from the broker. `pushed`: an event, not the answer to a request.
  // `run_directory`: of that broker.
  // False: it could not, for want of descriptors, and needs the state again later.
  bool update(const wire::topic_state& state, bool pushed, const std::string& run_directory, type_checks& checks,
              monotonic::time_point now);
  // The publication's type, when its schema is needed to check it, and the check with its description.
  [[nodiscard]] const wire::type_reference* awaited_type() const noexcept { return gate_.awaited(); }
  void check_type(const type_description& published, type_checks& checks, monotonic::time_point now);
  // Returns what the user should learn about types, at most once per between_news. Only the newest is kept meanwhile: a
  // publisher that changes its type all the time must not fill the log.
  [[nodiscard]] std::optional<type_gate::news> take_news(monotonic::time_point now);
  // Returns what the publisher should learn about types, at most once per between_news; call reported() when it is
  // sent.
  [[nodiscard]] std::optional<wire::type_mismatch> type_report(monotonic::time_point now) const;
  void reported(monotonic::time_point now) noexcept;
  // Visits the parts of a shared topic.
  template <typename Visit>
  void for_each_part(Visit visit) const {
    if (sources_) sources_->for_each(visit);
  }
  // True while it, or a part of it, waits for a schema, or has news or a report about types.
  [[nodiscard]] bool has_type_work() const;
  // True once after a user's thread found that the link is lost, and rang the bell of the housekeeping.
  [[nodiscard]] bool take_call() noexcept;
  // True while it is not known whether the types match.
  [[nodiscard]] bool compares_types() const noexcept;
  // True: no link, none on its way, and no sample left.
  [[nodiscard]] bool is_over() const noexcept;
  // Looks for a link, and takes samples out of it when the user does not.
  void step(monotonic::time_point now);
  // The host's addresses or routes changed: as link_follower::network_changed.
  void network_changed(monotonic::time_point now);
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
  // What samples come from: one publication, those of a shared topic, or nothing any more.
  enum class follows : std::uint8_t { one, shared, none };
  [[nodiscard]] bool make_sources();
  [[nodiscard]] follows follows_now() const noexcept;
  [[nodiscard]] bool follow_sources(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                                    type_checks& checks, monotonic::time_point now);
  void end_sources(monotonic::time_point now);
  // These need mutex_.
  [[nodiscard]] bool is_closed() const noexcept { return follows_ == follows::none; }
  [[nodiscard]] bool is_connected() const noexcept;
  [[nodiscard]] std::optional<error> mismatch() const noexcept;
  [[nodiscard]] message take_from_sources(pick which) noexcept;
  [[nodiscard]] message take_from_link(pick which) noexcept;
  [[nodiscard]] message take_from_queue() noexcept;
  [[nodiscard]] message hand_out(sample&& s) noexcept;
  void wait_for_sample(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket, const deadline& until) noexcept;
  void call_housekeeping() noexcept;
  bool pull(subscriber_link& link, pick which = pick::newest) noexcept;
  [[nodiscard]] bool should_drain(monotonic::time_point now) noexcept;
  void drain_link(monotonic::time_point now) noexcept;

  const std::string topic_;
  const wire::id id_ = wire::id::random();
  const std::shared_ptr<const described_type> type_;
  const request_options options_;  // without the type
  const transport_set allowed_;
  const std::shared_ptr<const transport_list> transports_;
  const unsigned generation_;
  orc::detail::announcement announcement_;
  trace_number number_{0};
  const std::shared_ptr<doorbell> housekeeping_bell_;
  type_gate gate_;  // without the lock, because only the housekeeping uses it and a comparison can take long
  std::atomic<bool> called_{false};  // take_call
  monotonic::time_point next_news_;
  monotonic::time_point next_report_;

  mutable pi_mutex mutex_;  // guards the rest
  follows follows_ = follows::one;
  drain_policy drain_policy_;
  inbox inbox_;
  wait_point waiting_;
  std::optional<predictor> predictor_;                // with wait::predictive
  predictor::found found_ = predictor::found::there;  // how the receive that has the lock finds its sample
  link_follower source_;
  std::unique_ptr<shared_sources> sources_;  // once the topic was shared; only the housekeeping sets it
};

}  // namespace orc::detail
