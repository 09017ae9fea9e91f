// The one background thread of a participant: it takes what other threads pass in, talks to the broker, and cares for
// the topics (topic_care).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/network/address_watch.h"
#include "base/threads/doorbell.h"
#include "core/broker/broker_session.h"
#include "core/housekeeping/topic_care.h"
#include "core/housekeeping/topic_lists.h"
#include "core/housekeeping/topic_schedule.h"
#include "core/housekeeping/watched_topic.h"
#include "core/publication/publication.h"
#include "core/subscription/subscription.h"

namespace orc::detail {

class housekeeping {
 public:
  // How often it checks everything without an event.
  static constexpr std::chrono::seconds tick{1};

  housekeeping(zmq::context_t& context, const participant_options& options);
  // Says goodbye to the broker.
  ~housekeeping();
  housekeeping(const housekeeping&) = delete;
  housekeeping& operator=(const housekeeping&) = delete;

  // ---- any thread ----
  // The error when it does not run: out of descriptors or threads.
  [[nodiscard]] result started() const { return started_; }
  // For subscriptions, whose users ring it (subscription::take_call).
  [[nodiscard]] const std::shared_ptr<doorbell>& bell() const noexcept { return calls_; }
  void add(std::shared_ptr<publication> p);
  void add(std::shared_ptr<subscription> s);
  // The result gets its outcome when the broker confirms the end, or cannot be reached.
  std::shared_ptr<const announcement> remove(const std::shared_ptr<publication>& p);
  void remove(const std::shared_ptr<subscription>& s);
  [[nodiscard]] std::string broker_endpoint() const { return session_.endpoint(); }
  [[nodiscard]] result broker_availability() const { return session_.availability(); }
  [[nodiscard]] bool looks_for_slow_broker() const noexcept { return session_.looks_for_slow_broker(); }
  [[nodiscard]] std::chrono::milliseconds broker_round_trip() const noexcept { return session_.round_trip(); }

 private:
  void end() noexcept;
  void run();
  [[nodiscard]] bool turn();  // false: the participant ends
  void wait_for_memory();
  void take_changes();
  void take_calls();
  void follow_addresses(monotonic::time_point now);
  void talk_to_broker(monotonic::time_point now);

  void wait();
  void sooner(monotonic::time_point at) noexcept { next_ = std::min(next_, at); }

  const std::shared_ptr<doorbell> bell_ = std::make_shared<doorbell>();
  const std::shared_ptr<doorbell> calls_ = std::make_shared<doorbell>();
  broker_session session_;
  result started_;

  std::mutex mutex_;  // guards what other threads pass in
  std::deque<topic_end> added_;
  std::vector<broker_session::ending> ended_;
  bool stop_ = false;

  // Only this thread uses the rest.
  topic_schedule schedule_;
  topic_care care_{session_, schedule_};
  watched_topic own_;  // bells, broker, addresses
  address_watch addresses_;
  std::vector<int> fds_;
  std::uint32_t taken_calls_ = 0;
  monotonic::time_point next_;
  monotonic::time_point next_tick_;
  std::thread thread_;
};

}  // namespace orc::detail
