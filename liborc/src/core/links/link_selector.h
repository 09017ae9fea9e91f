// Finds the best endpoint for the link of a subscription to its publication. It proves which one works: a candidate
// counts only when the publication itself has answered through it (schemas/PROTOCOL.md, "Which endpoint").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links/endpoint_state.h"
#include "orc/options.h"
#include "transport/transport.h"

namespace orc::detail {

// Not thread-safe: the subscription serialises.
class link_selector {
 public:
  // When a candidate does not answer for this long, the next one is tried as well, unless the publication has said that
  // it prepares for us.
  static constexpr auto patience = std::chrono::milliseconds(500);
  // After a few rounds without success there is one round a second.
  static constexpr int quick_rounds = 4;
  static constexpr auto pause = std::chrono::milliseconds(1000);
  // Connections of one candidate over a network that may wait for an answer. TCP repeats at growing intervals, so one
  // connection alone would find a restored path much too late.
  static constexpr std::ptrdiff_t max_asked = 2;

  // When a crowd fills the publication's queue, places become free all the time. So it retries this often before it
  // tries the next endpoint.
  static constexpr auto crowd_pause = std::chrono::milliseconds(5);
  static constexpr int max_crowded = 100;

  struct choice {
    std::shared_ptr<subscriber_link> link;
    wire::endpoint where;
    std::string reason;           // why this one was chosen, and no better one
    std::string public_reason;    // the same for other users
    std::optional<sample> first;  // sample that already came through it
    bool checks_path;             // capabilities::checks_path
    bool sees_end;                // capabilities::sees_end
  };

  // `wanted.publication`, `wanted.secret`, `wanted.newest`, `wanted.before` and `wanted.run_directory` are ignored.
  link_selector(subscription_spec wanted, transport_set allowed, std::shared_ptr<const transport_list> transports)
      : wanted_(std::move(wanted)), allowed_(allowed), transports_(std::move(transports)) {}

  // Sets where the broker's users may have endpoints, besides the well-known places.
  void look_in(const std::string& run_directory) { wanted_.run_directory = run_directory; }
  // Sets the publication that was followed before there was none, and its endpoints.
  void followed_before(const wire::id& publication, const std::vector<wire::endpoint>& endpoints) {
    wanted_.before = publication;
    wanted_.before_at = endpoints;
  }
  // Starts to look for a link to this publication. `newest`: sequence of its newest sample so far; `from`: not before.
  void aim(const wire::id& publication, const std::vector<wire::endpoint>& endpoints, std::uint64_t newest,
           monotonic::time_point from = {});
  void stop() noexcept;
  // The publication left, as the broker reports: begins no more attempts, but those under way may still succeed.
  void try_no_more() noexcept { aiming_ = false; }
  // True while an attempt waits for its answer.
  [[nodiscard]] bool waits() const noexcept { return !candidates_.empty(); }
  [[nodiscard]] bool aiming() const noexcept { return aiming_; }

  // Goes on with the search. Returns the link once it is found; the search is then over.
  [[nodiscard]] std::optional<choice> step(monotonic::time_point now);

  void network_changed() noexcept {
    for (const auto& each : candidates_) each.link->network_changed();
  }
  void append_fds(std::vector<int>& to) const;
  [[nodiscard]] std::optional<monotonic::time_point> next_step() const noexcept;
  // The state of each endpoint, best first: its address, its state and, for a silent one, the likely cause.
  [[nodiscard]] std::string notes(monotonic::time_point now) const { return notes_of_first(endpoints_.size(), now); }
  // The same for other users. It hides what is open, closed or present on any host.
  [[nodiscard]] std::string public_notes() const { return public_notes_of_first(endpoints_.size()); }
  // Why an attempt under way drops samples: their type is another one. Nothing: none does.
  [[nodiscard]] std::optional<error> type_problem() const;
  // After step(): long work of an attempt under way (subscriber_link::work). Null: none.
  [[nodiscard]] std::shared_ptr<upkeep> work() noexcept;
  // Why the last attempt could not begin.
  [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  struct candidate {
    std::size_t endpoint;  // index in endpoints_
    std::shared_ptr<subscriber_link> link;
  };

  void list_endpoints(const std::vector<wire::endpoint>& endpoints);
  void begin();
  bool start_next(monotonic::time_point now);
  void ask_again(monotonic::time_point now);
  [[nodiscard]] choice take(candidate& found, monotonic::time_point now);
  [[nodiscard]] std::string notes_of_first(std::size_t count, monotonic::time_point now) const;
  [[nodiscard]] std::string public_notes_of_first(std::size_t count) const;
  [[nodiscard]] std::vector<candidate>::iterator drop_others_there(std::vector<candidate>::iterator keep);
  [[nodiscard]] bool is_reached(std::size_t which) const noexcept;
  [[nodiscard]] std::optional<choice> finished(monotonic::time_point now);

  subscription_spec wanted_;
  transport_set allowed_;
  std::shared_ptr<const transport_list> transports_;
  bool aiming_ = false;
  std::vector<endpoint_state> endpoints_;  // best first
  std::size_t next_endpoint_ = 0;
  std::vector<candidate> candidates_;
  monotonic::time_point look_again_;
  int rounds_ = 0;   // without success
  int crowded_ = 0;  // attempts of this round that found a full queue
  std::optional<error> failure_;
};

}  // namespace orc::detail
