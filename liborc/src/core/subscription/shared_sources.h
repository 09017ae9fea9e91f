// What a subscription to a shared topic receives from: one subscription for each publication, with a link, a queue and
// a check of types of its own. liborc/doc/design/shared-topics.md says why, and how samples of several publishers are
// ordered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "base/threads/pi_mutex.h"
#include "core/types/type_checks.h"
#include "orc/message.h"
#include "orc/subscriber.h"
#include "transport/transport.h"
#include "wire/control.h"

namespace orc::detail {

class subscription;

// Any thread, except where the housekeeping alone may call. Takes its own lock after that of the whole subscription,
// and before those of the parts.
class shared_sources {
 public:
  // Publications that left and have unread samples count too. The broker names at most half as many.
  static constexpr std::size_t max_sources = 2 * wire::max_publishers;
  static constexpr std::size_t remembered = wire::max_publishers;  // publishers that are gone, for publisher_of()

  using maker = std::function<std::shared_ptr<subscription>()>;
  // `make`: makes a subscription for one more publication. `newest_of_all`: take() decides between the publishers.
  shared_sources(maker make, bool newest_of_all);
  ~shared_sources();
  shared_sources(const shared_sources&) = delete;
  shared_sources& operator=(const shared_sources&) = delete;

  // Readable when take() may find something. -1: out of descriptors.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }
  // Returns the next sample, or nothing_new, or too_many_messages.
  [[nodiscard]] message take(pick which) noexcept;

  [[nodiscard]] std::size_t connected() const noexcept;
  // Each publication has another type: the first mismatch. Nothing: otherwise.
  [[nodiscard]] std::optional<error> mismatch() const noexcept;
  // True while the type of a publication is not compared yet.
  [[nodiscard]] bool compares_types() const noexcept;
  [[nodiscard]] link_info link() const;
  [[nodiscard]] std::vector<publisher_info> publishers() const;
  [[nodiscard]] publisher_info publisher(std::uint32_t number) const;
  // Sets the sums of all publishers, also of those that are gone.
  void report(wire::subscription_counters& to) const;
  void close() noexcept;

  // ---- housekeeping ----
  // Takes over the publications that the broker reports.
  void follow(const wire::topic_state& state, bool pushed, const std::string& run_directory, type_checks& checks,
              monotonic::time_point now);
  // Looks for links, and drops what is over. True: connected() or compares_types() changed.
  [[nodiscard]] bool step(monotonic::time_point now);
  [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
  void clear();
  void append_fds(std::vector<int>& to) const;
  [[nodiscard]] monotonic::time_point next_step(monotonic::time_point now) const;
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& each : sources_) visit(*each.part);
  }

 private:
  struct source {
    publisher_info who;
    wire::id publication;
    std::shared_ptr<subscription> part;
    bool listed = true;                                                 // the broker names it
    bool watched = false;                                               // in events_
    bool ready = false;                                                 // for take()
    std::int64_t newest_ns = std::numeric_limits<std::int64_t>::min();  // stamp of the newest sample taken
    std::uint64_t skipped = 0;  // samples that a newer one of another publisher replaced
  };

  // These need mutex_.
  [[nodiscard]] bool find_ready() noexcept;
  [[nodiscard]] message take_next(pick which) noexcept;
  [[nodiscard]] message take_newest() noexcept;
  [[nodiscard]] bool is_overtaken(const source& by, std::int64_t stamp_ns) const noexcept;
  void watch(source& one) noexcept;

  // Housekeeping.
  source& find_or_make(const wire::id& publication);
  void remove(std::size_t which);
  void make_room();

  const maker make_;
  const bool newest_of_all_;
  unique_fd events_;                            // an epoll of the parts' descriptors
  std::pair<std::size_t, bool> was_{0, false};  // connected() and compares_types() at the last step
  mutable pi_mutex mutex_;                      // guards the rest; only the housekeeping changes the list
  std::vector<source> sources_;                 // in the order of their numbers
  std::uint32_t last_number_ = 0;
  std::uint32_t last_turn_ = 0;  // number of the source that take_next() returned from last
  std::deque<publisher_info> gone_;
  std::int64_t newest_of_gone_ns_ = std::numeric_limits<std::int64_t>::min();
  wire::subscription_counters of_gone_;
};

}  // namespace orc::detail
