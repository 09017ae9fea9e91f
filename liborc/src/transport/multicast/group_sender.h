// Sends a publication's samples and announcements to its group, each sample once for all subscribers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "transport/frame.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/fec/fec_code.h"
#include "transport/multicast/fec/fec_plan.h"
#include "transport/multicast/link_events.h"
#include "transport/multicast/socket/datagram_batch.h"
#include "wire/multicast_url.h"

namespace orc::detail::multicast {

// Not thread-safe. No call blocks.
class group_sender {
 public:
  // `socket`: connected to the group.
  group_sender(unique_fd socket, std::string channel, const wire::multicast_url& url);

  [[nodiscard]] std::size_t max_sample_bytes() const noexcept { return largest_; }

  // Sends a sample. When the kernel does not take all of it, go_on() sends the rest. Until then a newer sample waits;
  // of several only the newest. Returns how many samples were dropped.
  [[nodiscard]] std::size_t transmit(sample& s, link_events& events) noexcept;
  // The kernel has room again: sends the rest, then the newest sample if it waits.
  [[nodiscard]] std::size_t go_on(sample* newest, link_events& events) noexcept;
  [[nodiscard]] bool has_rest() const noexcept { return static_cast<bool>(rest_.what.buffer); }
  // Cuts samples into the next smaller datagrams from now on, as far as they fit: the larger ones do not reach some
  // reader. False: they are the smallest already, stay on the host, or a sample is on its way.
  [[nodiscard]] bool send_smaller(const wire::multicast_url& url) noexcept;
  [[nodiscard]] bool sends_smaller() const noexcept { return datagram_bytes_ != full_bytes_; }
  // Cuts samples into datagrams of full size again. False: one is on its way.
  [[nodiscard]] bool send_full() noexcept;
  // Bytes of the largest repair.
  [[nodiscard]] std::size_t full_repair() const noexcept { return full_bytes_ + repair_header; }
  // Of the newest sample that was sent.
  [[nodiscard]] std::size_t newest_datagrams() const noexcept { return newest_datagrams_; }

  void announce(orc_datagram d) noexcept;

  // ---- for repairs: LCM's datagrams of a sample ----
  [[nodiscard]] lcm::layout layout_of(const sample& s) const noexcept;
  void add_plain(sending_batch& to, const lcm::layout& cut, const sample& s, std::size_t i) const noexcept;

 private:
  // A sample of which the kernel took only a part.
  struct rest {
    sample what;
    std::size_t next = 0;  // index of a datagram
  };
  // The number of datagrams of a sample, and one of them. With forward error correction its parity must exist.
  [[nodiscard]] std::size_t datagrams_of(const sample& s) const noexcept;
  void add_datagram(sending_batch& to, const sample& s, std::size_t i) noexcept;
  [[nodiscard]] bool protect(const sample& s) noexcept;
  [[nodiscard]] std::size_t start(sample& s, link_events& events) noexcept;
  // Returns the index of the first datagram that was not sent.
  [[nodiscard]] std::size_t send_datagrams(const sample& s, std::size_t from, std::size_t& dropped) noexcept;
  void watch_for_room(link_events& events, bool wanted) noexcept;

  const unique_fd out_;
  const std::string channel_;
  const std::size_t full_bytes_;  // of a datagram, as the interface takes it
  std::size_t datagram_bytes_;    // at most that
  const unsigned fec_;            // percent of parity; 0: none
  const std::size_t largest_;

  std::size_t newest_datagrams_ = 0;
  fec_plan plan_;                  // with forward error correction: of the newest sample being sent
  std::vector<std::byte> parity_;  // its parity, one block after the other
  fec_code code_;
  rest rest_;
  bool newest_waits_ = false;  // behind the rest of an older sample
  bool watched_for_room_ = false;
};

}  // namespace orc::detail::multicast
