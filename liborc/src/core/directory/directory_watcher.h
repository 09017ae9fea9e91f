// Turns the broker's answers to Watch into changes; behind orc::directory_watch.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/broker/broker_client.h"
#include "orc/directory.h"

namespace orc::detail {

// The last state that a watch reported. Finds what is new in the next page. Not thread-safe.
class directory_memory {
 public:
  using change = directory_change;

  explicit directory_memory(const watch_options& wanted)
      : participants_wanted_(wanted.participants), hosts_wanted_(wanted.hosts) {}

  // Appends the changes of a page.
  void take(wire::changes&& page, std::deque<change>& to);
  // The broker is lost: `complete` comes again after the next page without `more`.
  void lost() noexcept { complete_ = false; }
  // The position of the next question.
  [[nodiscard]] const wire::watch_position& position() const noexcept { return position_; }

 private:
  template <typename State>
  struct known {
    State state;
    std::uint64_t reported_in = 0;  // the last round in which the broker reported it
  };
  void take(wire::topic_state&& now, std::deque<change>& to);
  void take(wire::participant_info&& now, std::deque<change>& to);
  void count(const std::string& host, bool more, std::deque<change>& to);
  void report_missing_as_gone(std::deque<change>& to);

  const bool participants_wanted_;
  const bool hosts_wanted_;
  wire::watch_position position_;
  std::uint64_t round_ = 0;  // grows with each full report
  bool complete_ = false;
  std::map<std::string, known<wire::topic_state>> topics_;
  std::map<wire::id, known<wire::participant_info>> participants_;
  std::map<std::string, std::size_t> hosts_;
};

// Any thread may call.
class directory_watcher {
 public:
  directory_watcher(const directory_options& options, watch_options wanted);

  [[nodiscard]] result next_change(directory_change& change, std::chrono::nanoseconds timeout);
  [[nodiscard]] int fd() const noexcept { return client_ && !forked() ? client_->fd() : -1; }
  [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation(); }

 private:
  void step(monotonic::time_point now);
  [[nodiscard]] wire::watch question() const;

  const watch_options wanted_;
  const int stop_fd_;
  const unsigned generation_;
  std::mutex mutex_;
  result ready_;
  std::unique_ptr<broker_client> client_;
  directory_memory memory_;
  std::deque<directory_change> changes_;  // to return; the watcher asks for more when there are none
  result status_;                         // of the last question; an error is returned once
  monotonic::time_point ask_at_;
  bool was_up_ = false;
};

}  // namespace orc::detail
