// The publication's end over multicast: one transmission serves all subscribers, ORC's and LCM's.
//
// The network may lose any datagram. Subscribers of ORC's kind report what they have, when the stream pauses and about
// once a second; the one that lacks the newest sample is sent, to it alone, the parts that it misses. So LCM programs
// see each message once, and the last sample arrives (contract 1.1) as long as anything does.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/unique_fd.h"
#include "transport/multicast/datagram_batch.h"
#include "transport/multicast/fec_code.h"
#include "transport/multicast/lcm_datagram.h"
#include "transport/multicast/link_events.h"
#include "transport/multicast/multicast_url.h"
#include "transport/multicast/orc_datagram.h"
#include "transport/transport.h"

namespace orc::detail {

class multicast_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 1024;

  [[nodiscard]] static link_or_error<publisher_link> open(const publication_spec& spec, const multicast_url& url);

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  // Those that report; LCM programs listen unseen.
  [[nodiscard]] std::size_t readers() const noexcept override { return reader_count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool idle() const noexcept override { return false; }
  [[nodiscard]] std::size_t largest_sample() const noexcept override { return largest_; }
  void commit(sample& s) noexcept override;
  void service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return events_.fd(); }
  [[nodiscard]] bool behind() const noexcept override;
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    wire::id subscription;
    sockaddr_in address{};
    std::uint64_t has = 0;    // the newest sample that it reported
    std::uint64_t asked = 0;  // the newest sample when it was asked last
    monotonic::time_point heard;
    monotonic::time_point asked_at;
    monotonic::time_point ask_at;
    monotonic::duration ask_every{};
    unsigned repairs = 0;  // in the second that began at
    monotonic::time_point repairs_since;
    [[nodiscard]] bool may_be_repaired(monotonic::time_point now) noexcept;
  };
  // A sample that the kernel did not take as a whole.
  struct rest {
    sample what;
    std::size_t next = 0;  // datagram
  };

  multicast_publisher_link(const publication_spec& spec, const multicast_url& url, std::size_t datagram_bytes);

  // Out.
  void transmit(sample& s) noexcept;
  [[nodiscard]] lcm::layout layout_of(const sample& s) const noexcept;
  void add_plain(multicast::sending_batch& to, const lcm::layout& cut, const sample& s, std::size_t i) noexcept;
  // Of a sample: how many datagrams it is, and one of them. With forward error correction its parity has been made.
  [[nodiscard]] std::size_t datagrams_of(const sample& s) const noexcept;
  void add_datagram(multicast::sending_batch& to, const sample& s, std::size_t i) noexcept;
  [[nodiscard]] bool protect(const sample& s) noexcept;
  [[nodiscard]] std::size_t send_datagrams(const sample& s, std::size_t from) noexcept;  // returns the first not sent
  void go_on(sample* last) noexcept;
  void watch_for_room(bool wanted) noexcept;
  void announce() noexcept;
  void ask(reader& whom, monotonic::time_point now) noexcept;

  // In.
  void receive_reports(sample* last) noexcept;
  void on_report(const multicast::orc_datagram& report, const sockaddr_in& from, sample* last) noexcept;
  void forget(const wire::id& subscription, const sockaddr_in& from) noexcept;
  void repair(const multicast::orc_datagram& report, const sockaddr_in& to, sample& last) noexcept;

  // Time.
  [[nodiscard]] monotonic::duration pause() const noexcept;
  void beat(monotonic::time_point now) noexcept;
  void beat_at(monotonic::time_point when) noexcept;

  const std::string channel_;
  const wire::id publication_;
  const bool registered_;
  const std::size_t datagram_bytes_;
  const unsigned fec_;  // percent of parity; 0: none
  const std::size_t largest_;
  wire::endpoint where_;
  std::uint16_t reports_at_ = 0;  // port
  unique_fd out_;                 // connected to the group
  unique_fd reports_;             // from subscriptions, and what is for one of them
  multicast::link_events events_;

  std::uint64_t newest_ = 0;
  std::size_t newest_datagrams_ = 0;
  multicast::fec_plan plan_;       // with forward error correction: of the newest sample that is being sent
  std::vector<std::byte> parity_;  // and its parity, one block after the other
  multicast::fec_code code_;
  rest rest_;
  bool newest_waits_ = false;  // behind the rest of an older sample
  bool watched_for_room_ = false;

  std::vector<reader> readers_;
  std::atomic<std::size_t> reader_count_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};

  monotonic::time_point last_commit_;
  monotonic::duration period_{};  // of the samples, about
  monotonic::time_point last_announce_;
  monotonic::time_point next_beat_ = monotonic::time_point::max();
  std::size_t repaired_ = 0;  // bytes in this turn
};

}  // namespace orc::detail
