// Who sends on a channel, and how far each is: samples of several senders are kept apart by the address they come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "transport/multicast/reassembly.h"
#include "wire/control.h"

namespace orc::detail::multicast {

struct sender {
  explicit sender(const source& where) noexcept : from(where), takes_reports(where) {}

  source from;
  source takes_reports;
  wire::id publication;                 // of ORC's kind: announced from that address; else it is an LCM program
  std::optional<std::uint64_t> newest;  // sequence of the newest complete sample (of an LCM program: its number)
  std::uint64_t announced = 0;          // sequence of the newest sample that the publication told of
  monotonic::time_point heard;
  monotonic::time_point told;                  // by a status
  std::optional<std::uint32_t> other_channel;  // number of the last message of this sender that was for another channel
  std::size_t awaited = 0;                     // fragments that were asked for and have not come
  bool wants_report = false;
  bool ignored = false;         // heard another way
  std::uint64_t unwanted = 0;   // sequence of a sample that there is no room for
  monotonic::time_point taken;  // when its newest sample was

  // The sequence that a number stands for, of which the datagrams carry the lower half.
  [[nodiscard]] std::uint64_t sequence_of(std::uint32_t number) const noexcept {
    const std::uint64_t near = std::max(newest.value_or(0), announced);
    const std::int64_t distance = ahead(number, static_cast<std::uint32_t>(near));
    if (distance < 0 && static_cast<std::uint64_t>(-distance) > near) return number;  // there is nothing before 0
    return near + static_cast<std::uint64_t>(distance);
  }
};

// At most `most`; the one that was not heard for longest makes room. Not thread-safe.
class sender_table {
 public:
  static constexpr std::size_t most = 64;

  [[nodiscard]] sender* find(const source& from) noexcept {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const sender& each) { return each.from == from; });
    return found == all_.end() ? nullptr : &*found;
  }
  [[nodiscard]] sender* find(const wire::id& publication) noexcept {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const sender& each) { return each.publication == publication; });
    return found == all_.end() ? nullptr : &*found;
  }
  // Never moves those that are there.
  [[nodiscard]] sender& add(const source& from) noexcept {
    if (all_.size() == most) {
      auto& oldest = *std::min_element(all_.begin(), all_.end(),
                                       [](const sender& a, const sender& b) { return a.heard < b.heard; });
      return oldest = sender(from);
    }
    return all_.emplace_back(from);
  }
  [[nodiscard]] auto begin() noexcept { return all_.begin(); }
  [[nodiscard]] auto end() noexcept { return all_.end(); }

  sender_table() { all_.reserve(most); }

 private:
  std::vector<sender> all_;
};

}  // namespace orc::detail::multicast
