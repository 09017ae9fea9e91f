// The peer of a connection to the broker, as the kernel identifies it.
#pragma once

#include <cstdint>
#include <string>

namespace orc {

struct peer {
  enum class via : std::uint8_t { ipc, tcp, broker, discovered };
  via way = via::ipc;
  std::uint32_t uid = 0;  // ipc: SO_PEERCRED
  std::uint32_t pid = 0;  // ipc: in this pid namespace; 0: not visible here
  std::string directory;  // ipc: directory of the socket that it connected to
  // tcp: numeric, of the connection (IPv4-mapped addresses as IPv4); broker, discovered: its endpoint
  std::string address;
};

}  // namespace orc
