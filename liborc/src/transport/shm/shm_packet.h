// The messages between the two ends of a shm link: packets of 64 bytes over a Unix SOCK_SEQPACKET socket, some with
// descriptors (SCM_RIGHTS). schemas/PROTOCOL.md, "Shared memory", has the bytes. Descriptors go from the publisher to
// the subscriber only: a stranger's descriptor could block the program that writes to it or closes it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/files/unique_fd.h"
#include "wire/control.h"

namespace orc::detail::shm {

enum class packet_kind : std::uint8_t {
  hello = 1,       // subscription: asks for samples
  welcome = 2,     // publication: samples follow; with the subscriber's page and the segment
  refused = 3,     // publication: it is another publication, or full
  segment = 4,     // publication: use this segment from now on; with the segment
  attached = 5,    // subscription: has mapped that generation
  want_alert = 6,  // subscription: needs a descriptor to poll
  alert = 7,       // publication: the descriptor
  goodbye = 8,     // subscription: wants no more; messages that the program still holds keep the socket open
  preparing = 9    // publication: makes memory for this subscriber; repeated until welcome
};

struct packet {
  packet_kind kind = packet_kind::hello;
  wire::id publication;
  wire::id subscription;
  std::uint32_t pins = 0;         // hello: how many slots it may occupy
  std::uint32_t depth = 0;        // hello: 0 newest wins, else this many samples in order
  std::uint32_t generation = 0;   // welcome, segment, attached
  std::uint32_t pages = 0;        // welcome, segment: size of the segment, in pages of 4096 bytes
  std::uint64_t newest = 0;       // welcome: sequence of the newest sample; or of the first one for this reader
  bool starts_at_newest = false;  // welcome: older samples are not for this reader
};

struct received_packet {
  orc::detail::shm::packet packet;
  std::array<unique_fd, 2> fds;  // in the order in which they were sent
};

enum class received : std::uint8_t {
  packet,
  nothing,  // nothing now
  closed,
  malformed  // not a packet of this protocol; it was dropped
};

enum class delivered : std::uint8_t {
  yes,
  not_now,  // no room in the socket, or too many descriptors under way
  never     // the other end is gone
};

// No call blocks or raises SIGPIPE.
[[nodiscard]] delivered send_packet(int socket, const packet& p, std::initializer_list<int> fds = {}) noexcept;
// `fds_welcome`: false: drops descriptors that come along.
[[nodiscard]] received receive_packet(int socket, received_packet& out, bool fds_welcome) noexcept;

}  // namespace orc::detail::shm
