// Several datagrams per system call (sendmmsg, recvmmsg).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "transport/multicast/datagram/datagram_head.h"
#include "transport/multicast/datagram/source.h"

namespace orc::detail::multicast {

// Datagrams of [wrapper][head][payload] each. Added memory must stay valid until it is sent.
class sending_batch {
 public:
  // To the address that the socket is connected to; or to one address.
  sending_batch() noexcept = default;
  sending_batch(const source& to, std::span<std::byte> wrapper) noexcept : to_(to), wrapper_(wrapper) {}

  void clear() noexcept { size_ = 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == heads_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // The head of the datagram that the next add() makes.
  [[nodiscard]] datagram_head& head() noexcept { return heads_[size_]; }
  void add(std::span<const std::byte> payload) noexcept;

  struct result {
    std::size_t done = 0;  // not to send again; fewer than size(): the kernel has no room
    std::size_t lost = 0;  // of those: the network did not take them
  };
  [[nodiscard]] result send(int socket) noexcept;

 private:
  static constexpr std::size_t most = 32;
  std::optional<socket_address> to_;
  std::span<std::byte> wrapper_;
  std::array<datagram_head, most> heads_;
  std::array<std::array<iovec, 3>, most> parts_;
  std::array<mmsghdr, most> messages_;
  std::size_t size_ = 0;
};

// Space for datagrams that arrive. Its memory is touched only as far as they reach.
class receiving_batch {
 public:
  receiving_batch();

  struct received {
    std::span<const std::byte> bytes;  // empty: it was truncated
    source from;
    std::int64_t stamp_ns;  // of its arrival, CLOCK_REALTIME
  };
  // Receives what is there. Returns how many; fewer than `most`: there are no more.
  [[nodiscard]] std::size_t receive(int socket) noexcept;
  // True: the last receive() ended with an ICMP error: no program receives at the address of a connected socket.
  [[nodiscard]] bool was_refused() const noexcept { return refused_; }
  [[nodiscard]] received operator[](std::size_t i) noexcept;

  static constexpr std::size_t most = 8;

 private:
  static constexpr std::size_t largest = 65536;
  struct slot {
    sockaddr_in6 from;  // or a shorter one, with zeros behind
    iovec part;
    alignas(cmsghdr) std::array<std::byte, 64> control;
  };
  [[nodiscard]] const source& source_of(const slot& which) noexcept;

  bool refused_ = false;
  std::size_t used_ = most;  // those before this index may differ from their initial state
  std::unique_ptr<std::byte[]> memory_;
  std::array<slot, most> slots_{};
  std::array<mmsghdr, most> messages_{};
  // The last sender, as the kernel writes it and as we do, because most datagrams come from one sender.
  sockaddr_in6 last_from_{};
  source last_source_;
};

}  // namespace orc::detail::multicast
