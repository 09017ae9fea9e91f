// Sockets of stream links: how tcp listens and connects, and for ipc and tcp the options that keep old data out of the
// kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/port_range.h"
#include "wire/control.h"

namespace orc::detail {

// How much a connection lets wait in the kernel, at least, before its reader counts as slow.
inline constexpr std::size_t min_kernel_queue = 2 * 1024;

// Largest sample in bytes. A publisher may begin a sample and never end it: this bounds what a subscription keeps of
// it.
inline constexpr std::size_t max_stream_sample = std::size_t{1} << 30;

// Connects to "tcp://1.2.3.4:port" ("tcp://[v6]:port"): a number, because looking up a name may take seconds. The
// descriptor is non-blocking and may still be connecting.
[[nodiscard]] expected<unique_fd> connect_to_host(const std::string& address);

// Returns a non-blocking socket that listens on a free port of `among`, and sets `port` to it. `all_interfaces`: at the
// addresses of both families, else at 127.0.0.1 only.
[[nodiscard]] expected<unique_fd> listen_on_port(bool all_interfaces, std::uint16_t& port,
                                                 const port_range& among = {});

// For both ends of a new connection: no delay, and a dead peer is noticed within about ten seconds while nothing is
// sent to it.
void prepare_stream(int fd, wire::transport kind) noexcept;
// For tcp: BBR lets a stream of small packets have two of them on the way, which a slow link takes in 50 ms. Reno
// begins with ten.
void keep_small_packets_moving(int fd) noexcept;
// Identifies the peer: the process (ipc; all invisible ones count as one) or the address (tcp; of IPv6 its /64
// network).
struct peer_id {
  std::array<std::uint64_t, 2> bits{};
  friend bool operator==(const peer_id&, const peer_id&) = default;
};
[[nodiscard]] peer_id peer_of(int fd, wire::transport kind) noexcept;
// For the sending end, while something waits: true when the peer's host has not answered for about ten seconds. The
// host of a stopped program answers.
[[nodiscard]] bool peer_is_silent(int fd, wire::transport kind) noexcept;
// For the sending end, while something waits, about once a second: true when the peer answers, but what was sent does
// not arrive. Large packets are then lost on the way: an MTU is smaller there, and no router says so. Before that it
// lets routers cut the packets. `tries`: what it remembers of the connection; 0 at first.
[[nodiscard]] bool loses_large_packets(int fd, wire::transport kind, std::uint8_t& tries) noexcept;
// Makes the packets of all later connections of a listening socket small enough for every path, or ends that.
void send_small_packets(int listener, bool small) noexcept;
// Ends a connection at once and tells the peer, whatever waits to be sent.
void reset_at_close(int fd) noexcept;
// For the other end: a note for people when the sending end sends small packets for that reason; else empty.
[[nodiscard]] std::string small_packets_remark(int fd, wire::transport kind);
// The state of the path to the peer. A peer whose program stands still acknowledges, because its host does.
enum class path_state {
  heard,   // something arrived recently
  quiet,   // nothing arrived, and nothing waits for an acknowledgement
  waiting  // what was sent, or should be, is not acknowledged yet
};
[[nodiscard]] path_state path_of(int fd, wire::transport kind) noexcept;
// For the sending end: lets about `bytes` wait unsent in the kernel.
void set_kernel_queue(int fd, wire::transport kind, std::size_t bytes) noexcept;

}  // namespace orc::detail
