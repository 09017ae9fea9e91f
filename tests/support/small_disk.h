// A disk that is soon full.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace orc::test {

// A file system of 1 MiB that only this process sees. False: the machine does not allow it.
inline bool mount_small(const std::string& path, std::string& why) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m") != 0) {
    why = std::string("a small file system needs root: ") + std::strerror(errno);
    return false;
  }
  return true;
}

// Leaves not a byte.
inline void take_all_space(const std::string& path) {
  std::ofstream all(path, std::ios::binary);
  const std::string page(4096, 'x');
  while (all.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
  }
}

}  // namespace orc::test
