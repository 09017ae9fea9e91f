// The publication's end over multicast: one transmission serves all subscribers, ORC's and LCM's.
//
// The network may lose any datagram. ORC's subscribers report what they have, when the stream pauses and about once a
// second. One that lacks the newest sample is sent the missing parts, by unicast. So LCM programs see each message
// once, and the last sample arrives as long as anything does (liborc/doc/contract.md, promise 1).
//
// Any program can send a report. One without a good cookie gets a small status with the cookie and leaves no trace.
// Readers echo the cookie, and share bounded places and bytes (reader_table.h). The work of a turn is bounded, because
// send() waits for the lock that service() holds.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/group_sender.h"
#include "transport/multicast/link_events.h"
#include "transport/multicast/reader_table.h"
#include "transport/multicast/report_cookies.h"
#include "transport/multicast/types/type_offer.h"
#include "transport/transport.h"
#include "wire/multicast_url.h"

namespace orc::detail {

class multicast_publisher_link final : public publisher_link {
 public:
  [[nodiscard]] static link_or_error<publisher_link> open(const publication_spec& spec, const wire::multicast_url& url);

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  // True when its own address is gone, or the way to the group begins at another address or interface.
  [[nodiscard]] bool is_outdated() const override;
  // Counts subscribers that report. LCM programs are invisible.
  [[nodiscard]] std::size_t readers() const noexcept override { return reader_count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t max_sample_bytes() const noexcept override { return group_.max_sample_bytes(); }
  void commit(sample& s) noexcept override;
  unfinished service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return events_.fd(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  using reader = multicast::reader;
  using source = multicast::source;

  multicast_publisher_link(const publication_spec& spec, const wire::multicast_url& url, unique_fd out,
                           unique_fd reports);

  // Reports.
  void receive_reports(const sample* last, monotonic::time_point now) noexcept;
  void on_report(const multicast::orc_datagram& report, const source& from, const sample* last,
                 monotonic::time_point now) noexcept;
  void on_ask_type(const multicast::orc_datagram& request, const source& from, monotonic::time_point now) noexcept;
  [[nodiscard]] reader* join(const multicast::orc_datagram& report, const source& from, const sample* last,
                             monotonic::time_point now) noexcept;
  void count_readers() noexcept { reader_count_.store(readers_.size(), std::memory_order_relaxed); }

  // To one subscription. A status carries the sequence of the newest sample for that subscription.
  [[nodiscard]] multicast::orc_datagram status(const source& to, const wire::id& link, std::uint64_t newest,
                                               monotonic::time_point now) const noexcept;
  void send_status(const source& to, const wire::id& link, std::uint64_t newest, monotonic::time_point now) noexcept;
  void ask(reader& whom, monotonic::time_point now) noexcept;
  void try_full(reader& whom, monotonic::time_point now) noexcept;
  [[nodiscard]] std::uint64_t newest_for(const reader& whom) const noexcept;
  void repair_readers(const sample* last, monotonic::time_point now) noexcept;
  [[nodiscard]] std::size_t repair(reader& whom, const sample& last) noexcept;

  // True: a reader lacks the newest sample, or the kernel has not taken all of it.
  [[nodiscard]] bool behind() const noexcept;

  // Time.
  [[nodiscard]] monotonic::duration pause() const noexcept;
  void beat(monotonic::time_point now) noexcept;
  void announce(monotonic::time_point now) noexcept;
  void arm_timer() noexcept;

  const wire::id publication_;
  const bool registered_;
  const bool keep_last_;
  const multicast::report_cookies cookies_;
  const multicast::type_offer type_;
  const wire::multicast_url url_;
  int network_ = 0;  // index of the interface
  wire::endpoint where_;
  std::uint16_t reports_at_ = 0;  // port
  multicast::group_sender group_;
  const unique_fd reports_;  // receives from subscriptions, and sends to one of them
  multicast::link_events events_;

  std::uint64_t newest_ = 0;
  multicast::reader_table readers_;
  std::atomic<std::size_t> reader_count_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};

  monotonic::time_point last_commit_;
  monotonic::duration period_{};  // between samples, approximately
  monotonic::time_point last_announce_;
  monotonic::time_point next_announce_;
  monotonic::time_point next_beat_ = monotonic::time_point::max();
  monotonic::time_point next_reports_ = monotonic::time_point::max();  // not watched for input before
  monotonic::time_point next_repairs_ = monotonic::time_point::max();
  monotonic::time_point repairs_since_;
  std::size_t repairs_left_ = 0;     // bytes in the current turn
  monotonic::time_point narrow_at_;  // when the last report of such a reader came
  monotonic::time_point types_since_;
  std::size_t types_left_ = 0;  // bytes of descriptions in the current turn
  monotonic::time_point armed_for_;
};

}  // namespace orc::detail
