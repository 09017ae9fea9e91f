// One end of a ping-pong on bare UDP multicast, the floor under ORC's transport and LCM: a datagram each way, nothing
// in it but the payload, on a port of its own so that nobody has to look for whom it is.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tools/support/ping_pong.h"

namespace orc::bench {

class udp_end {
 public:
  using message = message_view;

  // Sends to `group` at port `out`, receives what is sent to it at port `in`.
  udp_end(const std::string& group, std::uint16_t out, std::uint16_t in) {
    to_.sin_family = AF_INET;
    to_.sin_port = htons(out);
    if (::inet_pton(AF_INET, group.c_str(), &to_.sin_addr) != 1) throw std::runtime_error(group + " is no address");
    sockaddr_in here = to_;
    here.sin_port = htons(in);
    ip_mreq join{to_.sin_addr, {}};
    const int on = 1;
    const unsigned char ttl = 0;
    const timeval look_up{0, 200'000};  // how often it is seen that the end was closed
    check(::setsockopt(out_, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl));
    check(::connect(out_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_));
    check(::setsockopt(in_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    check(::bind(in_, reinterpret_cast<const sockaddr*>(&here), sizeof here));
    check(::setsockopt(in_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join));
    check(::setsockopt(in_, SOL_SOCKET, SO_RCVTIMEO, &look_up, sizeof look_up));
  }
  ~udp_end() {
    ::close(out_);
    ::close(in_);
  }
  udp_end(const udp_end&) = delete;
  udp_end& operator=(const udp_end&) = delete;

  bool send(const std::byte* data, std::size_t size) noexcept {
    return ::send(out_, data, size, 0) == static_cast<ssize_t>(size);
  }
  bool send_loaned(const std::byte*, std::size_t, std::size_t) noexcept { return false; }
  bool forward(message&& received) noexcept { return send(received.data(), received.size()); }
  message receive(wait_mode) noexcept {
    for (;;) {
      const ssize_t size = ::recv(in_, buffer_.data(), buffer_.size(), 0);
      if (size >= 0) return {buffer_.data(), static_cast<std::size_t>(size)};
      if (closed_ || (errno != EAGAIN && errno != EINTR)) return {};
    }
  }
  // From any thread.
  void close() noexcept { closed_ = true; }

 private:
  static void check(int done) {
    if (done != 0) throw std::system_error(errno, std::generic_category(), "UDP multicast");
  }

  sockaddr_in to_{};
  const int out_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int in_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::array<std::byte, 65536> buffer_;
  std::atomic<bool> closed_{false};
};

}  // namespace orc::bench
