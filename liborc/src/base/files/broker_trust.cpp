#include "base/files/broker_trust.h"
#include "base/files/run_dir.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/files/run_dir.h"

namespace orc::detail {

namespace {

[[nodiscard]] bool is_ours(uid_t user) noexcept { return user == 0 || user == ::geteuid(); }

// Only root makes directories in /run, whatever owner it gives them.
[[nodiscard]] bool is_the_systems(const std::string& directory) noexcept {
  struct stat above {};
  return directory == system_broker_dir && ::stat("/run", &above) == 0 && above.st_uid == 0 &&
         (above.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

[[nodiscard]] std::string belongs_to(uid_t user) { return " belongs to uid " + std::to_string(user); }

}  // namespace

std::string why_foreign(const std::string& directory) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) return {};
  if (!is_ours(found.st_uid) && !is_the_systems(directory)) return directory + belongs_to(found.st_uid);
  if ((found.st_mode & S_IWOTH) != 0) return directory + " can be written by everybody";
  return {};
}

std::string why_distrusted(const std::string& endpoint) {
  if (!endpoint.starts_with(ipc_scheme)) return {};
  const std::string path = endpoint.substr(ipc_scheme.size());
  const std::string directory = directory_beside(endpoint);
  if (auto foreign = why_foreign(directory); !foreign.empty()) return foreign;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  struct stat found {};
  if (path.size() >= sizeof address.sun_path || ::stat(directory.c_str(), &found) != 0) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return {};
  ucred listener{};
  socklen_t size = sizeof listener;
  const bool known = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                     ::getsockopt(probe, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0;
  ::close(probe);
  if (!known || is_ours(listener.uid) || listener.uid == found.st_uid) return {};
  return "the listener at " + path + belongs_to(listener.uid);
}

}  // namespace orc::detail
