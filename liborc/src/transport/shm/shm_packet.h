// What the two ends of a shm link say to each other: packets of 64 bytes over a Unix SOCK_SEQPACKET socket, some of
// them with descriptors (SCM_RIGHTS). schemas/PROTOCOL.md, "Shared memory", has the bytes. Descriptors go from the
// publisher to the subscriber only: one that a stranger sends could block whoever writes to it, or closes it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/unique_fd.h"
#include "wire/control.h"

namespace orc::detail::shm {

enum class packet_kind : std::uint8_t {
  hello = 1,       // subscription: I want your samples
  welcome = 2,     // publication: you get them; with the subscriber's page and the segment
  refused = 3,     // publication: I am not who you asked for, or I am full
  segment = 4,     // publication: the segment that is used from now on, with it
  attached = 5,    // subscription: I have that generation
  want_alert = 6,  // subscription: I need a descriptor to poll
  alert = 7,       // publication: here it is
  goodbye = 8,     // subscription: no more; messages that the program still holds keep the socket open
  preparing = 9    // publication: the memory for you is being made; repeated until welcome
};

struct packet {
  packet_kind kind = packet_kind::hello;
  wire::id publication;
  wire::id subscription;
  std::uint32_t pins = 0;         // hello: how many slots it may occupy
  std::uint32_t depth = 0;        // hello: 0 newest wins, else this many samples in order
  std::uint32_t generation = 0;   // welcome, segment, attached
  std::uint32_t pages = 0;        // welcome, segment: size of the segment, in pages of 4096 bytes
  std::uint64_t newest = 0;       // welcome: sequence of the newest sample; or of the first one that is for this reader
  bool starts_at_newest = false;  // welcome: older samples are not for this reader
};

struct received_packet {
  orc::detail::shm::packet packet;
  std::array<unique_fd, 2> fds;  // in the order in which they were sent
};

enum class received : std::uint8_t {
  packet,
  nothing,  // for now
  closed,
  malformed  // not one of ours; it was dropped
};

enum class delivered : std::uint8_t {
  yes,
  not_now,  // no room in the socket, or too many descriptors on their way
  never     // nobody is there any more
};

// Nothing here blocks or raises SIGPIPE.
[[nodiscard]] delivered send_packet(int socket, const packet& p, std::initializer_list<int> fds = {}) noexcept;
// `fds_welcome`: false: descriptors that come along are dropped.
[[nodiscard]] received receive_packet(int socket, received_packet& out, bool fds_welcome) noexcept;

}  // namespace orc::detail::shm
