// Finds the best way from a subscription to its publication. Which one works is proven, not guessed: a candidate counts
// only once the publication itself answered through it (schemas/PROTOCOL.md, "Which endpoint").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/publication.h"
#include "core/way.h"
#include "orc/options.h"
#include "transport/transport.h"

namespace orc::detail {

// Not thread-safe: the subscription serialises.
class link_selector {
 public:
  // A candidate that does not answer for this long gets company from the next one, unless its publication has said that
  // it makes room for us.
  static constexpr auto patience = std::chrono::milliseconds(500);
  // After a few rounds without success there is one a second.
  static constexpr int quick_rounds = 4;
  static constexpr auto pause = std::chrono::milliseconds(1000);
  // Connections of one candidate over a network that may wait for an answer: what is repeated at growing intervals, as
  // TCP does, would find a path that is back much too late.
  static constexpr std::ptrdiff_t most_asked = 2;

  // When a crowd fills the publication's queue, places become free all the time: retries this often before it tries the
  // next way.
  static constexpr auto crowd_pause = std::chrono::milliseconds(5);
  static constexpr int most_crowded = 100;

  struct choice {
    std::shared_ptr<subscriber_link> link;
    wire::endpoint where;
    std::string reason;           // why this one and not those preferred to it
    std::string public_reason;    // the same for others
    std::optional<sample> first;  // what came through it already
  };

  // `wanted.publication`, `wanted.secret`, `wanted.newest` and `wanted.run_directory` are ignored.
  link_selector(subscription_spec wanted, transport_set allowed, std::shared_ptr<const transport_list> transports)
      : wanted_(std::move(wanted)), allowed_(allowed), transports_(std::move(transports)) {}

  // Where the endpoints of the broker's users may be besides the well-known places.
  void look_in(const std::string& run_directory) { wanted_.run_directory = run_directory; }
  // Starts to look for a way to this publication. `newest`: sequence of what came from it so far; `from`: not before.
  void aim(const wire::id& publication, const std::vector<wire::endpoint>& endpoints, std::uint64_t newest,
           monotonic::time_point from = {});
  void stop() noexcept;
  // The publication left, or so the broker says: tries no more ways, but one that was tried already may still be found.
  void try_no_more() noexcept { aiming_ = false; }
  // Does one that was tried wait for its answer?
  [[nodiscard]] bool waits() const noexcept { return !candidates_.empty(); }
  [[nodiscard]] bool aiming() const noexcept { return aiming_; }

  // Moves on; once a way is found it is returned and the search is over.
  [[nodiscard]] std::optional<choice> step(monotonic::time_point now);

  void append_fds(std::vector<int>& to) const;
  [[nodiscard]] std::optional<monotonic::time_point> next_step() const noexcept;
  // How each way is now, best first: its address, its state and, for a silent one, the likely cause.
  [[nodiscard]] std::string notes(monotonic::time_point now) const { return notes_of_first(ways_.size(), now); }
  // The same for others, to whom it must not say what is open, closed or there on any host.
  [[nodiscard]] std::string public_notes() const { return public_notes_of_first(ways_.size()); }
  // Why the way that was tried last could not even be begun.
  [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  struct candidate {
    std::size_t way;  // in ways_
    std::shared_ptr<subscriber_link> link;
  };

  void list_ways(const std::vector<wire::endpoint>& endpoints);
  void begin();
  bool start_next(monotonic::time_point now);
  void ask_again(monotonic::time_point now);
  [[nodiscard]] choice take(candidate& found);
  [[nodiscard]] std::string notes_of_first(std::size_t count, monotonic::time_point now) const;
  [[nodiscard]] std::string public_notes_of_first(std::size_t count) const;
  [[nodiscard]] std::vector<candidate>::iterator drop_others_there(std::vector<candidate>::iterator keep);
  [[nodiscard]] bool is_reached(std::size_t which) const noexcept;
  [[nodiscard]] std::optional<choice> finished();

  subscription_spec wanted_;
  transport_set allowed_;
  std::shared_ptr<const transport_list> transports_;
  bool aiming_ = false;
  std::vector<way> ways_;  // best first
  std::size_t next_way_ = 0;
  std::vector<candidate> candidates_;
  monotonic::time_point look_again_;
  int rounds_ = 0;   // in which no way was found
  int crowded_ = 0;  // attempts of this round that found a queue full
  std::optional<error> failure_;
};

}  // namespace orc::detail
