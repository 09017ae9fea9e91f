// The topics that ended while a broker may know them. Their withdrawal is repeated until the broker confirms it, or
// another broker answers, which never knew them. After a change of brokers the next ones get them too, because the
// session may go back to one. liborc/doc/design/broker-session.md says why.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/broker/announcement.h"
#include "wire/control.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it. There are never more of them than topics that a broker heard of.
class withdrawals {
 public:
  static constexpr auto repeat_after = std::chrono::milliseconds(200);

  // Takes memory for so many more, so that the next calls of add() do not throw.
  void reserve(std::size_t more) {
    all_.reserve(all_.size() + more);
    remembered_.reserve(remembered_.size() + more);
  }
  // `told` gets its outcome when the withdrawal is confirmed. It is due at once.
  void add(std::uint64_t request, wire::body what, std::shared_ptr<announcement> told) {
    all_.push_back({request, std::move(what), std::move(told), {}});
    if (remembers_) remembered_.push_back(all_.back());
  }

  // Sends those that are due with `send(request, body)`. False: that returned false, so the broker takes nothing now.
  template <typename Send>
  [[nodiscard]] bool send_due(monotonic::time_point now, Send&& send) {
    for (auto& each : all_) {
      if (now < each.next) continue;
      if (!send(each.request, each.what)) return false;
      each.next = now + repeat_after;
    }
    return true;
  }
  // When the next one is due; time_point::max(): there is none.
  [[nodiscard]] monotonic::time_point next() const noexcept {
    auto soonest = monotonic::time_point::max();
    for (const auto& each : all_) soonest = std::min(soonest, each.next);
    return soonest;
  }
  // All of them are due now: the broker may have missed them.
  void repeat(monotonic::time_point now) noexcept {
    for (auto& each : all_) each.next = now;
  }

  // The broker answered: this one is over.
  void end(std::uint64_t request) {
    std::erase_if(all_, [&](const withdrawal& each) {
      if (each.request != request) return false;
      each.told->confirmed();
      return true;
    });
  }
  // Another broker answers: all of them are over, except those that are remembered.
  void end_all() {
    end_waits();
    all_ = remembered_;
  }
  // The session leaves a broker that may still know it: remembers those that there are, and those to come.
  void remember() {
    remembered_ = all_;
    remembers_ = true;
  }
  // No broker but the present one knows it any more.
  void forget() noexcept {
    remembered_.clear();
    remembers_ = false;
  }
  // No broker answers: nobody waits for them any longer, but they are repeated when the broker returns.
  void end_waits() {
    for (const auto& each : all_) each.told->confirmed();
  }

 private:
  struct withdrawal {
    std::uint64_t request;
    wire::body what;
    std::shared_ptr<announcement> told;
    monotonic::time_point next;
  };
  std::vector<withdrawal> all_;
  std::vector<withdrawal> remembered_;
  bool remembers_ = false;
};

}  // namespace orc::detail
