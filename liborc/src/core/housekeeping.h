// The one background thread of a participant. It talks to the broker, lets subscribers join, serves lagging ones, finds
// links, and empties the links of subscriptions whose user is away.
#pragma once

#include <poll.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/doorbell.h"
#include "core/address_watch.h"
#include "core/broker_session.h"
#include "core/publication.h"
#include "core/subscription.h"

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
  [[nodiscard]] const std::shared_ptr<doorbell>& bell() const noexcept { return bell_; }
  void add(std::shared_ptr<publication> p);
  void add(std::shared_ptr<subscription> s);
  // The result gets its outcome when the broker confirms the end, or cannot be reached.
  std::shared_ptr<const announcement> remove(const std::shared_ptr<publication>& p);
  void remove(const std::shared_ptr<subscription>& s);
  [[nodiscard]] std::string broker_endpoint() const { return session_.endpoint(); }
  [[nodiscard]] result broker_availability() const { return session_.availability(); }

 private:
  void run();
  [[nodiscard]] bool turn();  // false: the participant ends
  void take_changes();
  void follow_addresses(monotonic::time_point now);
  void look_after(publication& p, monotonic::time_point now);
  void open(publication& p, monotonic::time_point now);
  void rest();
  // A descriptor to poll, and the topic that its events are for. Without a topic an event takes a whole turn.
  struct watch {
    publication* sender = nullptr;
    subscription* receiver = nullptr;
    monotonic::time_point resume = {};  // not polled before
  };

  void add_watch(int fd, watch whom);
  void wait();
  [[nodiscard]] monotonic::time_point resume_watches(monotonic::time_point now);
  [[nodiscard]] bool serve(monotonic::time_point now);
  void serve(publication& p);
  void sooner(monotonic::time_point at) noexcept { next_ = std::min(next_, at); }

  const std::shared_ptr<doorbell> bell_ = std::make_shared<doorbell>();
  broker_session session_;
  result started_;

  std::mutex mutex_;  // guards what other threads pass in
  topic_lists wanted_;
  std::vector<broker_session::ending> ended_;
  bool changed_ = false;
  bool stop_ = false;

  // Only this thread uses the rest.
  topic_lists topics_;
  address_watch addresses_;
  std::vector<pollfd> polled_;
  std::vector<watch> watches_;  // for each of polled_
  std::vector<int> fds_;
  monotonic::time_point next_;
  monotonic::time_point next_tick_;
  std::thread thread_;
};

}  // namespace orc::detail
