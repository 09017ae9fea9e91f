#include "transport/shm/peer.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace orc::detail::shm {

namespace {

[[nodiscard]] bool credentials_of(int socket, ucred& who) noexcept {
  socklen_t size = sizeof who;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
}

[[nodiscard]] bool is_member(int socket, gid_t primary, gid_t group) noexcept {
  if (primary == group) return true;
  gid_t groups[256];
  socklen_t size = sizeof groups;
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) return false;
  const auto* const end = groups + size / sizeof(gid_t);
  return std::find(static_cast<const gid_t*>(groups), end, group) != end;
}

}  // namespace

std::int32_t process_of(int socket) noexcept {
  ucred who{};
  return credentials_of(socket, who) ? who.pid : 0;
}

bool may_share_memory(int socket, const std::string& endpoint) noexcept {
  ucred who{};
  if (!credentials_of(socket, who)) return false;
  if (who.uid == ::geteuid() || who.uid == 0) return true;
  struct stat file {};
  const std::string path = endpoint.substr(endpoint.find("://") + 3);
  return ::stat(path.c_str(), &file) == 0 && (file.st_mode & S_IWGRP) != 0 && is_member(socket, who.gid, file.st_gid);
}

}  // namespace orc::detail::shm
