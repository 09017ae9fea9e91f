// One datagram to a multicast group and back to this host, on a port that nobody uses and with TTL 0: nothing leaves
// the host and no program hears it.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "wire/multicast_url.h"

namespace orc::cli {

enum class probe_step : std::uint8_t { socket, find_interface, join, send, receive, done };

struct probe_result {
  probe_step reached = probe_step::socket;  // where it ended
  int error = 0;                            // errno there; 0: nothing arrived in time
  std::string by;                           // done: the interface that the kernel sent it by
  double milliseconds = 0;
};

// As the kernel routes the group, which is what LCM does: IPv4 only.
[[nodiscard]] probe_result lcm_round_trip(const detail::ip_address& group);
// With the sockets of ORC's multicast transport, on the group and by the interface that it takes for this URL.
[[nodiscard]] probe_result transport_round_trip(wire::multicast_url url);

struct network_interface {
  std::string name;
  std::string address;  // may be empty
  bool up = false;
  bool loopback = false;
  bool multicast = false;
};
// In the kernel's order, each with its first address of that family.
[[nodiscard]] std::vector<network_interface> network_interfaces(sa_family_t family);

// Binds the port as a program of ORC (to the group) or of LCM (to any address) does. 0 or errno.
enum class bind_to : std::uint8_t { group, any };
[[nodiscard]] int try_port(const wire::multicast_url& url, bind_to where);

// Bytes that the kernel grants a socket's receive buffer when it is asked for so many, and when a privilege is used
// for that (equal without one).
struct granted_buffer {
  std::size_t plain = 0;
  std::size_t privileged = 0;
};
[[nodiscard]] granted_buffer try_receive_buffer(std::size_t bytes);

}  // namespace orc::cli
