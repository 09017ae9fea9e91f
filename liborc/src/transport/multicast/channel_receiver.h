// Turns the datagrams of a subscription's channel into complete samples and into reports to the senders.
//
// It follows one publication, whose identity is checked: an announcement with its id came from the group. Or it is
// open: it receives from every sender on the channel, as LCM does. An open one receives from a publication that is
// registered with a broker only after half a second, because our own broker would have reported it by then. No I/O; the
// clock comes as an argument: tests/fuzz/multicast_fuzz.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "transport/frame.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/datagram/reassembly.h"
#include "transport/multicast/fec/fec_reassembly.h"
#include "transport/multicast/sender_table.h"
#include "transport/multicast/types/type_exchange.h"
#include "transport/multicast/types/type_filter.h"
#include "transport/sample_ring.h"
#include "transport/transport.h"

namespace orc::detail::multicast {

// Not thread-safe.
class channel_receiver {
 public:
  struct settings {
    std::string channel;
    wire::id publication;  // zero: open
    wire::id link;         // drawn at random: names this end in its reports
    std::uint32_t depth = 0;
    std::uint64_t newest = 0;                         // open: the number of the newest sample of an earlier link
    bool alone = false;                               // open: no broker will report registered publications
    std::size_t max_bytes = 0;                        // of incomplete messages
    std::shared_ptr<const described_type> type = {};  // that samples must have; null: any
  };
  explicit channel_receiver(settings given);

  // Sets where the publication sends samples from and takes reports. `newest`: its newest known sample.
  void expect(const source& from, const source& reports_at, std::uint64_t newest);
  // Open: the subscription followed this publication over another link, up to sample settings::newest. If it is heard
  // again, it goes on from there.
  void expect_again(const wire::id& publication, const source& from, const source& reports_at,
                    monotonic::time_point now);

  // A datagram from the group, and one that was sent to this subscription alone.
  void on_group(std::span<const std::byte> bytes, const source& from, std::int64_t stamp_ns,
                monotonic::time_point now) noexcept;
  void on_direct(std::span<const std::byte> bytes, const source& from, monotonic::time_point now) noexcept;

  // True when the publication, or for an open subscription any sender, was heard through the group.
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] bool is_open() const noexcept { return !settings_.publication; }
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept { return newest_at_join_; }
  // What came of this publication, also from there before it was announced.
  [[nodiscard]] subscriber_link::heard heard_of(const wire::id& publication, const source& from) const noexcept;
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }
  // Memory of incomplete messages, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return fragments_.bytes() + shards_.bytes(); }
  // True: some publication found that large datagrams do not arrive.
  [[nodiscard]] bool gets_smaller() const noexcept {
    return std::any_of(senders_.begin(), senders_.end(), [](const sender& each) { return each.sends_smaller; });
  }
  // True when the publication has been silent for too long.
  [[nodiscard]] bool is_silent(monotonic::time_point now) noexcept;

  // Complete samples that were not taken yet: one place when the newest wins.
  [[nodiscard]] sample_ring& ready() noexcept { return ready_; }
  [[nodiscard]] const sample_ring& ready() const noexcept { return ready_; }

  // ---- types ----
  // Goes on with the comparison of types; when that is due by itself.
  void check_types(monotonic::time_point now) noexcept;
  [[nodiscard]] monotonic::time_point next_type_check() const noexcept { return types_.next_step(); }
  // The comparison that is due, for the caller to run, also without a lock; then it calls check_types(). Null: none.
  [[nodiscard]] std::shared_ptr<upkeep> type_work(monotonic::time_point now) noexcept {
    return types_.work(senders_, now);
  }
  // Why samples of some sender are dropped: the last LCM message of another type, or a publication that differs.
  [[nodiscard]] std::optional<error> type_problem() const;

  // ---- reports ----
  // True: a publication waits for a report.
  [[nodiscard]] bool owes_reports() noexcept;
  // Owes a report to each publication that fell silent, and, with `all`, to every one.
  void remind(monotonic::time_point now, bool all) noexcept;
  // Calls send(address, datagram) for each owed report, or request for a type. `buffer`: bytes that may be on their way
  // at a time.
  template <typename Send>
  void report(std::size_t buffer, Send send) noexcept {
    for (sender& each : senders_) {
      if (!std::exchange(each.wants_report, false)) continue;
      // It joins only as a reader of samples that it takes.
      if (each.type.verdict == type_verdict::matches)
        send(each.takes_reports, report_to(each, buffer));
      else if (const auto request = type_exchange::request(each, settings_.link))
        send(each.takes_reports, *request);
    }
  }
  // Calls send for each publication that should forget us.
  template <typename Send>
  void say_goodbye(Send send) noexcept {
    for (const sender& each : senders_) {
      orc_datagram d{};
      d.kind = datagram_kind::goodbye;
      d.publication = each.publication;
      d.link = settings_.link;
      d.cookie = each.cookie;
      if (each.publication) send(each.takes_reports, d);
    }
  }

 private:
  void count_malformed() noexcept { ++malformed_; }
  [[nodiscard]] sender* sender_at(const source& from, monotonic::time_point now) noexcept;
  [[nodiscard]] std::uint64_t newest_of(const wire::id& publication) const noexcept;
  [[nodiscard]] static std::uint64_t lost_before(const sender& moved, std::uint64_t known) noexcept;
  [[nodiscard]] static bool is_left_to_broker(const sender& whom, monotonic::time_point now) noexcept;
  static void look_for_another(sender& at, const lcm::datagram& d, monotonic::time_point now) noexcept;
  static void forget_publication(sender& at, monotonic::time_point now) noexcept;
  void on_message(sender& from, const lcm::datagram& d, std::int64_t stamp_ns, monotonic::time_point now) noexcept;
  void on_shard(sender& from, const fec_packet& packet, monotonic::time_point now) noexcept;
  void on_announce(const orc_datagram& d, const source& from, monotonic::time_point now) noexcept;
  [[nodiscard]] bool is_of_type(sender& from, const lcm::datagram* d, monotonic::time_point now) noexcept;
  void join(const sender& whom) noexcept;
  void on_repair(sender& from, const orc_datagram& d, monotonic::time_point now) noexcept;
  void deliver(sender& from, std::uint64_t sequence, sample_buffer&& buffer, std::int64_t stamp_ns,
               monotonic::time_point now) noexcept;
  [[nodiscard]] orc_datagram report_to(sender& to, std::size_t buffer) noexcept;

  const settings settings_;
  reassembly fragments_;
  fec_reassembly shards_;
  sender_table senders_;
  type_filter filter_;   // of each sample
  type_exchange types_;  // open: of each publication
  sample_ring ready_;
  bool connected_ = false;
  std::uint64_t order_ = 0;  // open: numbers the samples of all senders together
  std::uint64_t newest_at_join_ = 0;
  std::size_t fragment_bytes_ = 0;  // of the largest fragment so far
  std::uint64_t malformed_ = 0;
};

}  // namespace orc::detail::multicast
