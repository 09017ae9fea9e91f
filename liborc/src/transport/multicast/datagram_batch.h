// Several datagrams per system call (sendmmsg, recvmmsg).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "transport/multicast/datagram_head.h"
#include "transport/multicast/source.h"

namespace orc::detail::multicast {

// Datagrams, each of [wrapper][head][payload]. What is added must stay until it is sent.
class sending_batch {
 public:
  // To where the socket is connected to; or to one address.
  sending_batch() noexcept = default;
  sending_batch(const source& to, std::span<std::byte> wrapper) noexcept : to_(to), wrapper_(wrapper) {}

  void clear() noexcept { size_ = 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == heads_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Of the datagram that the next add() makes.
  [[nodiscard]] datagram_head& head() noexcept { return heads_[size_]; }
  void add(std::span<const std::byte> payload) noexcept;

  struct result {
    std::size_t done = 0;  // not to be sent again; fewer than size(): the kernel has no room
    std::size_t lost = 0;  // of those: the network did not take them
  };
  [[nodiscard]] result send(int socket) noexcept;

 private:
  static constexpr std::size_t most = 32;
  std::optional<wire::socket_address> to_;
  std::span<std::byte> wrapper_;
  std::array<datagram_head, most> heads_;
  std::array<std::array<iovec, 3>, most> parts_;
  std::array<mmsghdr, most> messages_;
  std::size_t size_ = 0;
};

// Room for datagrams that arrive; the memory is touched as far as they reach.
class receiving_batch {
 public:
  receiving_batch();

  struct received {
    std::span<const std::byte> bytes;  // empty: it was cut off
    source from;
    std::int64_t stamp_ns;  // when it came, CLOCK_REALTIME
  };
  // Takes what is there. Returns how many; fewer than `most`: there are no more.
  [[nodiscard]] std::size_t receive(int socket) noexcept;
  // The last receive() ended with this error instead: nobody is where a connected socket sends to (ICMP).
  [[nodiscard]] bool was_refused() const noexcept { return refused_; }
  [[nodiscard]] received operator[](std::size_t i) noexcept;

  static constexpr std::size_t most = 8;

 private:
  static constexpr std::size_t largest = 65536;
  struct slot {
    sockaddr_in6 from;  // or what is shorter, with zeros behind
    iovec part;
    alignas(cmsghdr) std::array<std::byte, 64> control;
  };
  [[nodiscard]] const source& source_of(const slot& which) noexcept;

  bool refused_ = false;
  std::size_t used_ = most;  // may not be as they were
  std::unique_ptr<std::byte[]> memory_;
  std::array<slot, most> slots_{};
  std::array<mmsghdr, most> messages_{};
  // The last one, as the kernel writes it and as we do: most datagrams come from one sender.
  sockaddr_in6 last_from_{};
  source last_source_;
};

}  // namespace orc::detail::multicast
