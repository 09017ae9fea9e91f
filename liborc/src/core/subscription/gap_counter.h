// Counts the samples that a subscription's user does not get (contract.md, "What does missed() count?"). It also
// recognises samples that come twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "transport/frame.h"

namespace orc::detail {

// Each sample goes through arrived() first, and then through returned() or dropped(), or neither. A later sample counts
// the samples of its own publication that went through neither. Not thread-safe: the subscription serialises.
class gap_counter {
 public:
  // From now on samples of another publication arrive, which has its own numbers. `newest`: of its samples, the newest
  // that came before; 0: none did. `lost`: samples before that one which did not come.
  void begin_publication(std::uint64_t newest = 0, std::uint64_t lost = 0) noexcept {
    dropped_ += lost;
    ++era_;
    newest_ = newest;
    before_first_.reset();
    if (newest != 0) before_first_ = newest;
  }
  // A link of the publication came up: see subscriber_link::newest_at_join. Only the first one decides which samples
  // were sent before the subscription joined. Those are not missed.
  void begin_link(std::uint64_t newest_at_join) noexcept {
    if (!before_first_) before_first_ = std::max<std::uint64_t>(newest_at_join, 1) - 1;
  }

  // Notes which publication the sample is of. False: it or a newer one of this publication arrived before, so drop it.
  [[nodiscard]] bool arrived(sample& s) noexcept {
    if (s.sequence <= newest_) return false;
    newest_ = s.sequence;
    s.era = era_;
    s.before_first = before_first_.value_or(s.sequence - 1);
    return true;
  }
  // The sample goes to the user. Returns how many the user missed since the last one.
  [[nodiscard]] std::uint64_t returned(const sample& s) noexcept {
    const std::uint64_t missed = gap_before(s) + std::exchange(dropped_, 0);
    missed_ += missed;
    return missed;
  }
  // The sample does not go to the user, and no later sample of its publication may follow that counts it.
  void dropped(const sample& s) noexcept { dropped_ += gap_before(s) + 1; }

  [[nodiscard]] bool is_of_earlier_publication(const sample& s) const noexcept { return s.era != era_; }
  // Sequence of the newest sample of this publication that arrived; 0: none.
  [[nodiscard]] std::uint64_t newest() const noexcept { return newest_; }
  // What returned() has counted so far.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  // Counts the samples of the same publication between the last one that went through here and this one.
  [[nodiscard]] std::uint64_t gap_before(const sample& s) noexcept {
    const bool same_publication = s.era == last_era_ && last_ != 0;
    const std::uint64_t before = same_publication ? last_ : s.before_first;
    last_era_ = s.era;
    last_ = s.sequence;
    return s.sequence > before ? s.sequence - before - 1 : 0;
  }

  std::uint32_t era_ = 0;                      // counts publications
  std::uint64_t newest_ = 0;                   // that arrived in this era
  std::optional<std::uint64_t> before_first_;  // the sequence before the first sample of this era for us
  std::uint32_t last_era_ = 0;                 // of the last sample that was returned or dropped
  std::uint64_t last_ = 0;                     // its sequence
  std::uint64_t dropped_ = 0;                  // not counted as missed yet
  std::uint64_t missed_ = 0;
};

}  // namespace orc::detail
