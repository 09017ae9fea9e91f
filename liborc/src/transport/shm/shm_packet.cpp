#include "transport/shm/shm_packet.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/files/stray_descriptors.h"

namespace orc::detail::shm {

namespace {

constexpr std::size_t packet_bytes = 64;
constexpr char mark[4] = {'O', 'S', 'H', 'M'};
constexpr std::uint8_t version = 1;
constexpr std::size_t max_fds = 2;
constexpr std::uint8_t starts_at_newest = 1;  // flag

struct bytes_of_packet {
  char mark[4];
  std::uint8_t version;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint8_t reserved;
  std::uint64_t publication[2];
  std::uint64_t subscription[2];
  std::uint32_t pins;
  std::uint32_t depth;
  std::uint32_t generation;
  std::uint32_t pages;
  std::uint64_t newest;
};
static_assert(sizeof(bytes_of_packet) == packet_bytes);

[[nodiscard]] bytes_of_packet encode(const packet& p) noexcept {
  bytes_of_packet bytes{};
  std::memcpy(bytes.mark, mark, sizeof mark);
  bytes.version = version;
  bytes.kind = static_cast<std::uint8_t>(p.kind);
  bytes.publication[0] = p.publication.hi;
  bytes.publication[1] = p.publication.lo;
  bytes.subscription[0] = p.subscription.hi;
  bytes.subscription[1] = p.subscription.lo;
  bytes.pins = p.pins;
  bytes.depth = p.depth;
  bytes.generation = p.generation;
  bytes.pages = p.pages;
  bytes.newest = p.newest;
  bytes.flags = p.starts_at_newest ? starts_at_newest : 0;
  return bytes;
}

[[nodiscard]] std::optional<packet> decode(const bytes_of_packet& bytes) noexcept {
  if (std::memcmp(bytes.mark, mark, sizeof mark) != 0 || bytes.version != version) return std::nullopt;
  if (bytes.kind < static_cast<std::uint8_t>(packet_kind::hello) ||
      bytes.kind > static_cast<std::uint8_t>(packet_kind::preparing))
    return std::nullopt;
  packet p;
  p.kind = static_cast<packet_kind>(bytes.kind);
  p.publication = {bytes.publication[0], bytes.publication[1]};
  p.subscription = {bytes.subscription[0], bytes.subscription[1]};
  p.pins = bytes.pins;
  p.depth = bytes.depth;
  p.generation = bytes.generation;
  p.pages = bytes.pages;
  p.newest = bytes.newest;
  p.starts_at_newest = (bytes.flags & starts_at_newest) != 0;
  return p;
}

// Closes unwanted descriptors: they are in the process as soon as they are received.
void take_fds(const msghdr& message, std::span<unique_fd> to) noexcept {
  std::size_t next = 0;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(const_cast<msghdr*>(&message), each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(each) + i * sizeof(int), sizeof fd);
      if (next < to.size())
        to[next++].reset(fd);
      else
        close_at_once(fd);
    }
  }
}

}  // namespace

delivered send_packet(int socket, const packet& p, std::initializer_list<int> fds) noexcept {
  bytes_of_packet bytes = encode(p);
  iovec part{&bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(max_fds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fds.size() != 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.begin(), fds.size() * sizeof(int));
  }
  ssize_t n = 0;
  do n = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(packet_bytes)) return delivered::yes;
  return errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN ? delivered::never : delivered::not_now;
}

received receive_packet(int socket, received_packet& out, bool fds_welcome) noexcept {
  bytes_of_packet bytes{};
  iovec part{&bytes, sizeof bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n = 0;
  // The kernel first reports a peer that closed without reading everything, but what that peer sent is still there.
  do n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0) return received::nothing;  // the end is an empty read; other errors pass
  for (auto& fd : out.fds) fd.reset();
  take_fds(message, std::span(out.fds).first(fds_welcome ? out.fds.size() : 0));
  if (n == 0) return received::closed;  // an empty packet of a stranger looks the same, and may end its connection
  if (n != static_cast<ssize_t>(packet_bytes) || (message.msg_flags & MSG_TRUNC) != 0) return received::malformed;
  const auto decoded = decode(bytes);
  if (!decoded) return received::malformed;
  out.packet = *decoded;
  return received::packet;
}

}  // namespace orc::detail::shm
