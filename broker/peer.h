// Who is at the other end of a connection of the broker, as the kernel says it.
#pragma once

#include <cstdint>
#include <string>

namespace orc {

struct peer {
  enum class via : std::uint8_t { ipc, tcp };
  via way = via::ipc;
  std::uint32_t uid = 0;  // ipc: SO_PEERCRED
  std::uint32_t pid = 0;  // ipc: in this pid namespace; 0: not visible from here
  std::string directory;  // ipc: of the socket that it came by
  std::string address;    // tcp: numeric, as the connection has it (IPv4-mapped addresses as IPv4)
};

}  // namespace orc
