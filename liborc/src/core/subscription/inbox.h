// The samples that have arrived at a subscription and wait for its user, and the counters of samples.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/subscription/gap_counter.h"
#include "transport/sample_ring.h"
#include "transport/transport.h"

namespace orc::detail {

// Takes samples out of links, each sample once. Links that keep their samples (subscriber_link::keeps_samples) need no
// queue: the user takes from them directly, and the queue has only what another link left behind. Not thread-safe: the
// subscription serialises.
class inbox {
 public:
  // `depth`: delivery::depth. `max_age`: request_options::max_age.
  inbox(std::uint32_t depth, std::chrono::nanoseconds max_age);

  // ---- from links ----
  void begin_publication(std::uint64_t newest = 0, std::uint64_t lost = 0) noexcept {
    gaps_.begin_publication(newest, lost);
  }
  // The link is new: the next look at it may find something.
  void begin_link(const subscriber_link& link) noexcept;
  // Queues one sample. False: it came before.
  bool accept(sample&& s) noexcept;
  // Moves samples from the link to the queue: everything, or one if the link keeps its samples. Stops after a bounded
  // number of samples, so that a fast publisher does not keep the lock. True: something new arrived.
  bool pull(subscriber_link& link, pick which = pick::newest) noexcept;
  // Takes the remaining samples of a link that ends, and copies them from the publisher's memory.
  void save(subscriber_link& link) noexcept;
  // True: the link was empty at the last look, and its descriptor shows the next sample.
  [[nodiscard]] bool is_dry() const noexcept { return dry_; }
  void look_again() noexcept { dry_ = false; }

  // ---- to the user ----
  // Takes the next sample of the queue that is young enough. False: there is none.
  [[nodiscard]] bool take(sample& out) noexcept;
  // The same from a link that keeps its samples. The queue must be empty.
  [[nodiscard]] bool take_from(subscriber_link& link, pick which, sample& out) noexcept;
  // The sample goes to the user. Returns message::missed.
  [[nodiscard]] std::uint64_t returned(const sample& s) noexcept { return gaps_.returned(s); }
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  void clear() noexcept { queue_.clear(); }

  // ---- counters ----
  // Sequence of the newest sample of this publication; 0: none.
  [[nodiscard]] std::uint64_t newest() const noexcept { return gaps_.newest(); }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  [[nodiscard]] std::uint64_t stale() const noexcept { return stale_; }
  // Sets `received`, `bytes`, `missed`, `stale` and `age_ns`. The age is that of the first sample that arrives after
  // the call, and is for the next report.
  void report(wire::subscription_counters& to) noexcept;

 private:
  [[nodiscard]] bool count(sample& s) noexcept;
  [[nodiscard]] bool drop_if_old(const sample& s) noexcept;

  const bool in_order_;
  const std::int64_t max_age_ns_;  // 0: any
  sample_ring queue_;              // of one place when the newest wins
  gap_counter gaps_;
  bool dry_ = false;

  std::uint64_t received_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t stale_ = 0;   // dropped because of their age
  std::int64_t age_ns_ = -1;  // of one sample per report: reading the clock for each would cost more than the rest
  bool age_is_old_ = true;
};

}  // namespace orc::detail
