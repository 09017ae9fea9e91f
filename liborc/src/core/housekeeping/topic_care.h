// What the housekeeping does for the topics of a participant: opens publications, serves their links, lets
// subscriptions find links, and empties those whose user is away.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/broker/broker_session.h"
#include "core/housekeeping/topic_lists.h"
#include "core/housekeeping/topic_schedule.h"
#include "core/housekeeping/watched_topic.h"

namespace orc::detail {

// Not thread-safe: the housekeeping thread owns it. What throws std::bad_alloc is due again.
class topic_care {
 public:
  topic_care(broker_session& session, topic_schedule& schedule) noexcept : session_(session), schedule_(schedule) {}
  topic_care(const topic_care&) = delete;
  topic_care& operator=(const topic_care&) = delete;

  [[nodiscard]] topic_lists& topics() noexcept { return topics_; }
  // May have begun already, when memory ran out.
  void take_in(const topic_end& topic);
  void let_go(const announcement* of) noexcept;

  void look_at_all() noexcept;
  // The host's addresses or routes changed. Looks at all.
  void network_changed(monotonic::time_point now);
  // At the subscriptions whose users called (subscription::take_call).
  void look_at_called() noexcept;
  // At those that the session changed.
  void look_at_affected();

  // Looks at the topics that are due, each once: some are due again at once.
  void attend_due(monotonic::time_point now);
  // An event of a topic's descriptor.
  void serve(const watch_set::event& what, monotonic::time_point now);
  // Whether a publication opened since the last call, so that it can be declared.
  [[nodiscard]] bool take_opened() noexcept;

 private:
  void attend(watched_topic& which, monotonic::time_point now);
  void look_at(watched_topic& which, publication& p, monotonic::time_point now);
  void look_at(watched_topic& which, subscription& s, monotonic::time_point now);
  void open(publication& p, monotonic::time_point now);

  broker_session& session_;
  topic_schedule& schedule_;
  topic_lists topics_;
  std::unordered_map<const announcement*, watched_topic> watched_topics_;
  std::vector<int> fds_;
  bool opened_ = false;
};

}  // namespace orc::detail
