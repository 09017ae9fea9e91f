// Asks the address broker without being a participant: one question at a time. It repeats the question until the broker
// answers, over a new connection or at another candidate when the first is lost. It goes back to an earlier candidate
// when that answers.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "core/broker/broker_search.h"
#include "core/broker/silence_check.h"
#include "core/participant/process.h"
#include "orc/result.h"
#include "wire/control.h"

namespace orc::detail {

// Not thread-safe. Waits in wait() only.
class broker_client {
 public:
  broker_client(std::shared_ptr<process> process, const std::string& broker);

  // Replaces a question without an answer. Repeats this one whenever it has no answer after `patience`.
  void ask(wire::body question, std::chrono::milliseconds patience);
  [[nodiscard]] bool is_asking() const noexcept { return question_.has_value(); }
  // Receives and sends what is due. Returns the answer to the question, once.
  [[nodiscard]] std::optional<wire::body> step(monotonic::time_point now);

  // True while a broker is connected and answers.
  [[nodiscard]] bool is_up() const noexcept { return up_ && !silent_; }
  // Of the last broker.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }
  // Why no answer comes, and what to do, for people.
  [[nodiscard]] std::string why_silent() const;

  // Of the network; 0: it was not measured, because the broker answered at once.
  [[nodiscard]] std::chrono::milliseconds round_trip() const noexcept { return silence_.round_trip(); }

  // True while it looks for a broker behind a slow network.
  [[nodiscard]] bool is_patient() const noexcept { return !up_ && silence_.is_patient(); }

  // Readable when step() has something to do, and after look_again(). -1: out of descriptors.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }
  void look_again() noexcept;
  // Waits until fd() or `stop_fd` is readable. closed: stop_fd is. timed_out: `until` has passed.
  [[nodiscard]] errc wait(const deadline& until, int stop_fd) noexcept;

 private:
  void receive(std::optional<wire::body>& answer, monotonic::time_point now);
  void look_back(monotonic::time_point now);
  void greeted_by(const wire::welcome& broker, monotonic::time_point now);
  [[nodiscard]] bool send(monotonic::time_point now);
  void watch(monotonic::time_point now) noexcept;
  void set_timer(monotonic::duration in) noexcept;

  std::shared_ptr<process> process_;  // owns the context, so it is destroyed last
  broker_search search_;
  silence_check silence_;
  unique_fd events_;  // an epoll of the next two
  unique_fd timer_;
  std::array<int, 2> watched_ = {-1, -1};  // descriptors of the connections in events_

  std::optional<wire::body> question_;
  std::chrono::milliseconds patience_{0};
  std::uint64_t first_request_ = 0;  // of the question, which is repeated before an answer of a slow network is here
  std::uint64_t request_ = 0;
  bool unsent_ = false;
  monotonic::time_point again_;  // when the question is asked again
  monotonic::time_point heard_;

  bool up_ = false;
  bool unread_ = false;  // the broker sent more than a step receives
  bool silent_ = false;
  std::string endpoint_;
  std::string version_;
};

}  // namespace orc::detail
