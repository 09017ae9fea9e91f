// The senders on a channel and the progress of each. The source address tells several senders apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "transport/multicast/datagram/reassembly.h"
#include "transport/multicast/types/type_transfer.h"
#include "wire/control.h"

namespace orc::detail::multicast {

struct sender {
  sender(const source& where, monotonic::time_point now) noexcept : from(where), takes_reports(where), since(now) {}

  source from;
  source takes_reports;
  monotonic::time_point since;          // of its first datagram, or the end of its publication
  wire::id publication;                 // of an ORC publication, announced from that address; else it is an LCM program
  std::optional<std::uint64_t> newest;  // sequence of the newest complete sample (of an LCM program: its number)
  std::uint64_t unannounced = 0;        // samples that were taken before it said of which publication they are
  std::uint64_t lost = 0;               // samples before the newest that do not show in the numbers yet
  std::uint64_t announced = 0;          // sequence of the newest sample that the publication reported
  std::uint64_t offered = 0;            // the newest of those that it would repair
  std::uint64_t cookie = 0;             // for reports
  bool held = false;                    // keeps its place while it is alive
  monotonic::time_point heard;
  monotonic::time_point told;  // by a status
  monotonic::time_point announced_at;
  std::optional<std::uint32_t> other_channel;  // number of this sender's last message for another channel
  std::size_t awaited = 0;                     // fragments that were requested and have not come
  bool wants_report = false;
  bool registered = false;      // with a broker, as it claims
  std::uint64_t unwanted = 0;   // sequence of a sample for which there is no room
  monotonic::time_point taken;  // of its newest sample
  bool keeps_last = true;       // its subscriptions get the last sample when they join
  bool sends_smaller = false;   // datagrams than its interface takes: others did not arrive somewhere
  announced_type type;          // of the publication

  // When the publication was last heard as such.
  [[nodiscard]] monotonic::time_point alive() const noexcept { return std::max(told, announced_at); }

  // The sequence of a number: datagrams carry its lower half.
  [[nodiscard]] std::uint64_t sequence_of(std::uint32_t number) const noexcept {
    const std::uint64_t near = std::max(newest.value_or(0), announced);
    const std::int64_t distance = ahead(number, static_cast<std::uint32_t>(near));
    if (distance < 0 && static_cast<std::uint64_t>(-distance) > near) return number;  // no sequence is below 0
    return near + static_cast<std::uint64_t>(distance);
  }
};

// Holds at most `most` senders. In a full table the sender that was silent for longest makes room, but not one of the
// publications that were announced first, so strangers that announce more cannot push them out. Not thread-safe.
class sender_table {
 public:
  static constexpr std::size_t most = 64;
  static constexpr std::size_t max_held = most / 2;
  // A publication that was silent for so long may be replaced. Announcements and statuses come every second.
  static constexpr std::chrono::seconds hold{2};

  [[nodiscard]] sender* find(const source& from) noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const sender& each) { return each.from == from; });
    return found == all_.end() ? nullptr : &*found;
  }
  // Returns the publication that sends repairs and statuses from there.
  [[nodiscard]] sender* find(const wire::id& publication, const source& reports_at) noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const sender& each) {
      return each.publication == publication && each.takes_reports == reports_at;
    });
    return found == all_.end() ? nullptr : &*found;
  }
  // Never moves existing entries.
  [[nodiscard]] sender& add(const source& from, monotonic::time_point now) noexcept {
    if (all_.size() < most) return all_.emplace_back(from, now);
    auto& oldest = *std::min_element(all_.begin(), all_.end(), [&](const sender& a, const sender& b) {
      return std::pair(is_held(a, now), a.heard) < std::pair(is_held(b, now), b.heard);
    });
    return oldest = sender(from, now);
  }
  // Holds the place of an announced publication, as long as there are such places.
  void hold_place(sender& whom, monotonic::time_point now) noexcept {
    const auto held = std::count_if(all_.begin(), all_.end(), [&](const sender& each) { return is_held(each, now); });
    whom.held = whom.held || static_cast<std::size_t>(held) < max_held;
  }
  [[nodiscard]] auto begin() noexcept { return all_.begin(); }
  [[nodiscard]] auto end() noexcept { return all_.end(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

  sender_table() { all_.reserve(most); }

 private:
  [[nodiscard]] static bool is_held(const sender& each, monotonic::time_point now) noexcept {
    return each.held && now - each.alive() < hold;
  }
  std::vector<sender> all_;
};

}  // namespace orc::detail::multicast
