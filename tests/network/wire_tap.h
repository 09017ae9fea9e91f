// What is really on the wires of a host of the lab.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/files/unique_fd.h"
#include "network/lab.h"

namespace orc::test {

// Captures the multicast datagrams (UDP) that pass the interfaces of a host, all but its loopback.
class wire_tap {
 public:
  explicit wire_tap(const lab_host& at) {
    std::thread([&] {  // a thread of its own: the caller stays where it is
      const detail::unique_fd there(
          ::open(("/proc/" + std::to_string(at.pid()) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
      if (there && ::setns(there.get(), CLONE_NEWNET) == 0)
        socket_.reset(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    })
        .join();
    if (!socket_) throw std::runtime_error("no AF_PACKET socket");
    take_multicast_only();
    sockaddr_ll every{};
    every.sll_family = AF_PACKET;
    every.sll_protocol = htons(ETH_P_ALL);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&every), sizeof every) != 0)
      throw std::runtime_error("an AF_PACKET socket cannot be bound");
  }

  // Since the last call.
  struct counts {
    std::size_t came = 0;
    std::size_t left = 0;
  };
  [[nodiscard]] counts count() const {
    counts all;
    sockaddr_ll from{};
    for (socklen_t size = sizeof from;
         ::recvfrom(socket_.get(), nullptr, 0, 0, reinterpret_cast<sockaddr*>(&from), &size) >= 0; size = sizeof from) {
      if (from.sll_pkttype == PACKET_OUTGOING)
        ++all.left;
      else if (from.sll_pkttype != PACKET_LOOPBACK)  // the host's own copy of what it sends
        ++all.came;
    }
    return all;
  }

 private:
  // What else passes must not fill the queue, which counts a small frame as 30 KB.
  void take_multicast_only() const {
    const auto word = [](int code, unsigned at) { return sock_filter BPF_STMT(static_cast<std::uint16_t>(code), at); };
    const auto need = [](int code, unsigned value, int yes, int no) {
      return sock_filter BPF_JUMP(static_cast<std::uint16_t>(code), value, static_cast<std::uint8_t>(yes),
                                  static_cast<std::uint8_t>(no));
    };
    constexpr auto of_frame = static_cast<unsigned>(SKF_AD_OFF);
    sock_filter code[] = {
        word(BPF_LD | BPF_W | BPF_ABS, of_frame + SKF_AD_IFINDEX),
        need(BPF_JMP | BPF_JEQ | BPF_K, 1, 13, 0),  // lo
        word(BPF_LD | BPF_W | BPF_ABS, of_frame + SKF_AD_PROTOCOL),
        need(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 6),
        word(BPF_LD | BPF_B | BPF_ABS, 9),
        need(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 9),
        word(BPF_LD | BPF_B | BPF_ABS, 16),
        word(BPF_ALU | BPF_AND | BPF_K, 0xf0),
        need(BPF_JMP | BPF_JEQ | BPF_K, 0xe0, 5, 6),  // 224.0.0.0/4
        need(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 0, 5),
        word(BPF_LD | BPF_B | BPF_ABS, 6),
        need(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
        word(BPF_LD | BPF_B | BPF_ABS, 24),
        need(BPF_JMP | BPF_JEQ | BPF_K, 0xff, 0, 1),  // ff00::/8
        word(BPF_RET | BPF_K, 64),
        word(BPF_RET | BPF_K, 0),
    };
    const sock_fprog program{std::size(code), code};
    const int bytes = 64 << 20;
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0 ||
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
      throw std::runtime_error("no filter on an AF_PACKET socket");
  }

  detail::unique_fd socket_;
};

}  // namespace orc::test
