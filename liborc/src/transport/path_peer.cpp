#include "transport/path_peer.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "base/files/run_dir.h"

namespace orc::detail {

namespace {

[[nodiscard]] bool credentials_of(int socket, ucred& who) noexcept {
  socklen_t size = sizeof who;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
}

[[nodiscard]] bool is_member(int socket, gid_t primary, gid_t group) {
  if (primary == group) return true;
  std::vector<gid_t> groups(256);
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
  int rc = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
  if (rc != 0 && errno == ERANGE) {  // `size` is now the number
    groups.resize(size / sizeof(gid_t));
    rc = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
  }
  groups.resize(rc == 0 ? size / sizeof(gid_t) : 0);
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

[[nodiscard]] bool am_member(gid_t group) {
  if (::getegid() == group) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return false;
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

std::int32_t process_of(int socket) noexcept {
  ucred who{};
  return credentials_of(socket, who) ? who.pid : 0;
}

bool may_share_memory(int socket, const std::string& endpoint) {
  ucred who{};
  if (!credentials_of(socket, who)) return false;
  if (who.uid == ::geteuid() || who.uid == 0) return true;
  struct stat file {};
  const std::string path = endpoint.substr(endpoint.find("://") + 3);
  return ::stat(path.c_str(), &file) == 0 && (file.st_mode & S_IWGRP) != 0 && is_member(socket, who.gid, file.st_gid);
}

bool may_publish_at(int socket, const std::string& path) {
  ucred who{};
  if (!credentials_of(socket, who)) return false;
  const uid_t me = ::geteuid();
  if (who.uid == me || who.uid == 0) return true;
  const std::string directory = path.substr(0, path.rfind('/'));
  const std::string name = directory.substr(directory.rfind('/') + 1);
  struct stat file {};
  struct stat above {};
  if (::lstat(path.c_str(), &file) != 0 || ::lstat(directory.c_str(), &above) != 0 || !S_ISDIR(above.st_mode))
    return false;
  const bool is_theirs =
      file.st_uid == who.uid && above.st_uid == who.uid && is_directory_of(name, std::to_string(who.uid));
  return is_theirs && (me == 0 || ((above.st_mode & S_IXGRP) != 0 && am_member(above.st_gid)));
}

}  // namespace orc::detail
