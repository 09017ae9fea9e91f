// The readers of a publication: subscriptions that proved their address (report_cookies.h). Tracks which of them wait
// for a repair, and whose turn it is.
//
// Limits repairs per host and then per reader, and places likewise. So a host with many readers, real or made up, takes
// neither from the others. Descriptions of types have a budget of their own, so requests for them delay no repair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/datagram/source.h"
#include "transport/multicast/repair_progress.h"
#include "wire/control.h"

namespace orc::detail::multicast {

// The part of a reader's last report that was not sent yet.
struct repair_request {
  std::uint64_t sequence = 0;  // 0: nothing
  std::array<orc_datagram::gap, orc_datagram::max_gaps> gaps{};
  std::size_t gap_count = 0;
  std::size_t gap = 0;       // index of the gap that is being sent
  std::size_t fragment = 0;  // index in it
  std::size_t sent = 0;      // bytes
};

struct reader {
  source at;
  wire::id link;            // of the subscription's end
  std::uint64_t since = 0;  // it does not get samples up to this one: it joined later, and the last one is not kept
  std::uint64_t has = 0;    // the newest sample that it reported
  std::uint64_t asked = 0;  // the newest sample at its last status
  monotonic::time_point heard;
  monotonic::time_point asked_at;
  monotonic::time_point ask_at;
  monotonic::duration ask_every{};
  repair_request repair;
  repair_progress progress;
  bool is_narrow = false;  // large datagrams do not reach it, or none was tried since they are small
  monotonic::time_point trial_at;
};

// Not thread-safe. No I/O; the clock comes as an argument. References stay valid until a reader goes.
class reader_table {
 public:
  static constexpr std::size_t most = 1024;
  // Bytes of repairs to one host: at once, and per second.
  static constexpr std::int64_t burst = 4 * 1024 * 1024;
  static constexpr std::int64_t bytes_per_second = 64 * 1024 * 1024;
  // Bytes of type descriptions to one host, likewise. A long description counts 97 KiB (type_offer::cost).
  static constexpr std::int64_t type_burst = 256 * 1024;
  static constexpr std::int64_t type_bytes_per_second = 1024 * 1024;

  [[nodiscard]] std::size_t size() const noexcept { return readers_.size(); }
  [[nodiscard]] bool empty() const noexcept { return readers_.empty(); }

  // A program has a port for each subscription, so there is one reader at an address and port.
  [[nodiscard]] reader* find(const source& at) noexcept;
  // Adds a reader. In a full table a reader of the host with the most readers makes room, unless the new one is of that
  // host. Null: no room, or no memory.
  [[nodiscard]] reader* add(const source& at, monotonic::time_point now) noexcept;
  void remove(const source& at) noexcept;
  // Removes readers that were not heard since then.
  void remove_silent(monotonic::time_point since) noexcept;

  template <typename Predicate>
  [[nodiscard]] bool any_of(Predicate holds) const noexcept {
    for (const auto& [where, each] : readers_) {
      if (holds(each)) return true;
    }
    return false;
  }
  // Calls visit(reader) for each until it returns false. The next call begins with that one.
  template <typename Visit>
  void visit_in_turn(Visit visit) noexcept {
    auto next = readers_.lower_bound(visit_next_);
    for (std::size_t n = readers_.size(); n > 0; --n, ++next) {
      if (next == readers_.end()) next = readers_.begin();
      if (visit(next->second)) continue;
      visit_next_ = next->first;
      return;
    }
  }

  // ---- repairs ----
  // Replaces what that reader asked for before.
  void request(reader& whom, const repair_request& what) noexcept;
  void end_request(reader& whom) noexcept;
  // The samples are cut in another way now: what readers asked for means other parts, and repairs begin anew for all.
  void begin_repairs_anew() noexcept;
  // Returns the next reader to repair: hosts with bytes left in turn, and the readers of a host in turn. Null: none.
  [[nodiscard]] reader* next_to_repair(monotonic::time_point now) noexcept;
  void charge(const reader& whom, std::size_t bytes) noexcept;
  [[nodiscard]] bool has_requests() const noexcept { return requests_ != 0; }

  // ---- types ----
  // Takes bytes for a description from the budget of its host. The address proved itself, but need not be a reader's.
  // False: none are left.
  [[nodiscard]] bool spend(const source& at, std::size_t bytes, monotonic::time_point now) noexcept;

 private:
  // Addresses that one program may choose freely count as one host: all of 127.0.0.0/8, and a network of IPv6 (/64).
  [[nodiscard]] static ip_address host_of(const source& at) noexcept;
  struct key {
    ip_address host;
    source at;
    auto operator<=>(const key&) const = default;
  };
  struct host {
    std::size_t readers = 0;
    std::size_t requests = 0;
    std::int64_t bytes_left = burst;
    std::int64_t type_bytes_left = type_burst;
    monotonic::time_point refilled;
    key repaired;  // the last one
  };
  using readers = std::map<key, reader>;

  [[nodiscard]] bool make_room_for(const ip_address& newcomer) noexcept;
  readers::iterator erase(readers::iterator which) noexcept;
  static void refill(host& which, monotonic::time_point now) noexcept;
  void forget_idle_hosts(monotonic::time_point now) noexcept;
  [[nodiscard]] reader* next_of(const ip_address& address, host& which) noexcept;

  readers readers_;
  std::map<ip_address, host> hosts_;  // those with readers, and those that have not regained all their bytes
  key visit_next_;
  ip_address repaired_;  // the last host
  std::size_t requests_ = 0;
};

}  // namespace orc::detail::multicast
