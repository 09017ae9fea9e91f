// A network of this process alone, with nothing but a loopback interface, so that what crosses it is what is measured.
#pragma once

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/files/unique_fd.h"

namespace orc::bench {

namespace own_network_detail {
inline bool write_file(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written;
}
}  // namespace own_network_detail

// A network namespace for this process; without root inside a user namespace in which it is root. Call it before you
// start threads. False: the system does not allow it.
inline bool enter_own_network() {
  using own_network_detail::write_file;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user == 0) return ::unshare(CLONE_NEWNET) == 0;
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
         write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
}

inline bool loopback_up() {
  const detail::unique_fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq lo{};
  lo.ifr_name[0] = 'l';
  lo.ifr_name[1] = 'o';
  lo.ifr_flags = IFF_UP;
  return any && ::ioctl(any.get(), SIOCSIFFLAGS, &lo) == 0;
}

// Bytes that the loopback interface has carried, with the headers of IP and what is above it.
inline std::uint64_t loopback_bytes() {
  std::ifstream counters("/proc/net/dev");
  for (std::string name; counters >> name;) {
    if (name != "lo:") continue;
    std::uint64_t received = 0;
    return counters >> received ? received : 0;
  }
  return 0;
}

}  // namespace orc::bench
