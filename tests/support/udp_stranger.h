// A program that sends any datagrams to a multicast group, or to one address.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/files/unique_fd.h"
#include "support/value_of.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/socket/multicast_socket.h"
#include "wire/multicast_url.h"

namespace orc::test {

class udp_stranger {
 public:
  explicit udp_stranger(const std::string& group_url)
      : url_(*wire::multicast_url::parse(group_url)),
        group_(value_of(detail::multicast::open_sender(url_))),
        direct_(value_of(detail::multicast::open_direct(AF_INET, 1 << 20))) {}

  [[nodiscard]] int fd() const { return direct_.get(); }

  void to_group(std::span<const std::byte> datagram) {
    (void)::send(group_.get(), datagram.data(), datagram.size(), 0);
  }
  void to_group(const detail::multicast::orc_datagram& d) {
    std::array<std::byte, detail::multicast::max_orc_datagram> datagram;
    to_group(std::span(datagram).first(detail::multicast::encode(d, datagram)));
  }
  void send(std::span<const std::byte> datagram, const detail::ip_port& to) {
    const detail::socket_address address(to);
    (void)::sendto(direct_.get(), datagram.data(), datagram.size(), 0, address.get(), address.size());
  }
  // Returns the bytes that it has.
  std::size_t send(const detail::multicast::orc_datagram& d, const detail::ip_port& to) {
    std::array<std::byte, detail::multicast::max_orc_datagram> datagram;
    const std::size_t size = detail::multicast::encode(d, datagram);
    send(std::span(datagram).first(size), to);
    return size;
  }
  // The next datagram that was sent to it alone; empty: none came.
  [[nodiscard]] std::span<const std::byte> receive(std::chrono::milliseconds limit) {
    pollfd one{direct_.get(), POLLIN, 0};
    if (limit.count() > 0 && ::poll(&one, 1, static_cast<int>(limit.count())) <= 0) return {};
    const auto size = ::recv(direct_.get(), bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    return std::span(bytes_).first(size < 0 ? 0 : static_cast<std::size_t>(size));
  }

 private:
  wire::multicast_url url_;
  detail::unique_fd group_;
  detail::unique_fd direct_;
  std::array<std::byte, 65536> bytes_;
};

}  // namespace orc::test
