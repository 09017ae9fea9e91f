#include "base/network/address_watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace orc::detail {

namespace {

constexpr int max_messages = 64;  // per step

[[nodiscard]] unique_fd open_socket() noexcept {
  unique_fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  // Watches routes as well: the route for multicast often changes after its address, as the default route of IPv6 does.
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  return socket;
}

}  // namespace

void address_watch::tick(monotonic::time_point now) noexcept {
  if (socket_) return;
  socket_ = open_socket();
  note(now);
}

void address_watch::step(monotonic::time_point now) noexcept {
  if (!socket_) return;
  bool changed = false;
  for (int n = 0; n < max_messages; ++n) {
    char ignored = 0;
    if (::recv(socket_.get(), &ignored, sizeof ignored, MSG_DONTWAIT) < 0 && errno != ENOBUFS) break;
    changed = true;  // ENOBUFS: the socket overflowed
  }
  if (changed) note(now);
}

void address_watch::note(monotonic::time_point now) noexcept {
  since_ = std::min(since_, now);
  due_ = std::min(now + quiet, since_ + longest);
}

}  // namespace orc::detail
