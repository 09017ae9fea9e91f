// The session with the address broker: sends declarations and handles the answers (schemas/PROTOCOL.md). It repeats
// everything that the broker has not confirmed. So a lost answer, a new broker or a moved connection needs no special
// care. It also repeats withdrawals, until the broker confirms them or another broker answers, which never knew the
// topics. It goes back to an earlier candidate as soon as that accepts it, because other programs are there.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/broker/broker_search.h"
#include "core/broker/own_addresses.h"
#include "core/broker/pending_declarations.h"
#include "core/broker/silence_check.h"
#include "core/broker/withdrawals.h"
#include "core/housekeeping/topic_lists.h"
#include "core/types/schema_exchange.h"
#include "orc/log.h"
#include "wire/control.h"

namespace orc::detail {

// Not thread-safe: the housekeeping thread owns it. Calls for other threads are marked.
class broker_session {
 public:
  broker_session(zmq::context_t& context, const participant_options& options);

  // Receives what has arrived, and sends what is due.
  void step(monotonic::time_point now, topic_lists& topics);
  // Descriptors that are readable when step() has something to do; -1: none.
  [[nodiscard]] std::array<int, 2> fds() noexcept { return {search_.fd(), search_.earlier().fd()}; }
  [[nodiscard]] monotonic::time_point next_step(monotonic::time_point now, const topic_lists& topics) const;
  // Call it when this host's addresses or routes may have changed. Registers publications at their current addresses.
  // Connects to the broker anew when the way there begins at another address, because the old connection is dead or
  // soon will be. Closes links that no current address reaches; publication::is_open reports that.
  void follow_addresses(monotonic::time_point now, topic_lists& topics);

  // The end of one of our topics: the withdrawal to send, whether a broker may know the topic, and the announcement
  // that reports the end.
  struct ending {
    wire::body what;
    std::shared_ptr<const announcement> declared;
    std::shared_ptr<announcement> told;
  };
  // Takes over all of them. Ends their waits at once when there is no broker to wait for.
  void withdraw(std::vector<ending>& topics);
  // The topic ended: no answer about it counts any more.
  void forget(const announcement* declared) noexcept { pending_.forget(declared); }
  // Sends Goodbye and waits up to 300 ms for the ack, which frees our topic names. Must be the last call.
  void leave();

  // Known once a broker has answered.
  [[nodiscard]] const std::optional<network_scope>& scope() const noexcept { return whereabouts_.scope(); }

  // Any thread: the endpoint of the broker that answered last, and why none answers (a sentence that says what to do).
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] result availability() const;
  // True while no broker has answered, and one may do so after a longer round trip.
  [[nodiscard]] bool looks_for_slow_broker() const noexcept { return looks_for_slow_; }
  // Of the network, when last measured; 0: it was not, because the broker answered at once.
  [[nodiscard]] std::chrono::milliseconds round_trip() const noexcept { return round_trip_; }

  void log(log_level level, const std::string& text) const;

 private:
  static constexpr std::size_t beat_counters = 64;  // per message: the limits of PROTOCOL.md with room to spare
  static constexpr std::uint64_t heartbeat_request = 2;
  static constexpr std::uint64_t goodbye_request = 15;
  static constexpr std::uint64_t first_request = 16;

  void receive_all(monotonic::time_point now, topic_lists& topics);
  void receive(wire::envelope&& message, monotonic::time_point now, topic_lists& topics);
  void look_back(monotonic::time_point now, topic_lists& topics);
  void go_back(const wire::welcome& welcome, monotonic::time_point now, topic_lists& topics);
  void leave_behind(monotonic::time_point now);
  void say_farewell();
  void on_new_connection(const wire::welcome& welcome, monotonic::time_point now);
  void join(const wire::welcome& welcome, monotonic::time_point now, topic_lists& topics);
  void learn(const wire::welcome& welcome);
  void on_error(std::uint64_t request, const wire::error& error, monotonic::time_point now, topic_lists& topics);
  void on_refused_hello(const wire::error& error, monotonic::time_point now, topic_lists& topics);
  void on_lost_session(const wire::error& error, monotonic::time_point now);
  void on_state(std::uint64_t request, const wire::topic_state& state, monotonic::time_point now, topic_lists& topics);
  void confirm_all(monotonic::time_point now, topic_lists& topics);
  static void ask_again(subscription& whom, topic_lists& topics);
  void say_hello(monotonic::time_point now);
  void draw_identity();
  void hold_up(const topic_lists& topics);
  void declare(monotonic::time_point now, topic_lists& topics);
  void beat(const topic_lists& topics);
  void lose(monotonic::time_point now);
  [[nodiscard]] bool goodbye_was_heard(const deadline& until);
  bool send(std::uint64_t request, wire::body what);
  void publish_status();

  const participant_options options_;
  const bool alone_;  // no broker is used
  broker_search search_;
  own_addresses whereabouts_;
  wire::hello hello_;
  bool joined_ = false;                       // the broker accepted our Hello
  std::optional<error> refusal_;              // or refused it, for this reason
  std::string logged_refusal_;                // so that each is logged once
  std::uint64_t hello_request_ = 1;           // changes with our id
  std::chrono::milliseconds hello_delay_{0};  // grows while Hellos fail, or their sessions are short
  monotonic::time_point joined_at_;
  std::uint64_t epoch_ = 0;  // of the last broker that accepted us; 0: none
  monotonic::time_point last_heard_;
  monotonic::time_point next_beat_;
  monotonic::time_point next_hello_;
  bool sent_ = false;                // since the last receive
  bool unread_ = false;              // the broker sent more than a step receives
  monotonic::time_point try_again_;  // when to send again what the broker did not take
  std::chrono::milliseconds heartbeat_{1000};
  std::chrono::milliseconds lease_{3000};
  std::uint64_t next_request_ = first_request;
  pending_declarations pending_;  // those that were repeated are forgotten with the next beat
  withdrawals withdrawals_;
  monotonic::time_point known_until_;             // by the broker before this one
  std::optional<broker_connection> left_broker_;  // hears Goodbye when this broker knows our topics
  monotonic::time_point farewell_at_;
  schema_exchange schemas_;
  silence_check silence_;

  std::atomic<bool> looks_for_slow_{false};
  std::atomic<std::chrono::milliseconds> round_trip_{};
  mutable std::mutex status_mutex_;
  std::string status_endpoint_;
  bool status_up_ = false;
  std::string status_candidates_;
  std::string status_problem_;
};

}  // namespace orc::detail
