#include "transport/endpoint_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/files/broker_trust.h"
#include "base/files/denied_path.h"
#include "base/files/run_dir.h"
#include "base/files/unique_fd.h"
#include "wire/control.h"

namespace orc::detail {

namespace {

constexpr time_t youngest_stale_s = 5;  // a socket may be bound and not listening yet

[[nodiscard]] error cannot_use(const std::string& path, int problem) {
  const bool denied = problem == EACCES || problem == EPERM;
  return {denied || problem == EROFS ? errc::no_permission : errc::system_error,
          "cannot use the directory " + path +
              " for sockets: " + (denied ? why_denied(path) : std::string(std::strerror(problem)))};
}

[[nodiscard]] bool nobody_listens(const std::string& path) noexcept {
  const unique_fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!probe || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return ::connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno == ECONNREFUSED;
}

void sweep(const std::string& directory) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  if (!listing) return;
  const time_t now = ::time(nullptr);
  while (const dirent* const entry = ::readdir(listing.get())) {
    const std::string path = directory + "/" + entry->d_name;
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) continue;
    if (now - found.st_ctime >= youngest_stale_s && nobody_listens(path)) ::unlink(path.c_str());
  }
}

[[nodiscard]] bool is_ours(const std::string& path) noexcept {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

// Another user of the broker took the name of our directory. Returns one with a name that no other user can foresee,
// which another participant of this user may have made; empty: there is none.
[[nodiscard]] std::string another_directory(const std::string& broker_directory) {
  const std::string uid = std::to_string(::geteuid());
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(broker_directory.c_str()), ::closedir);
  while (const dirent* const entry = listing ? ::readdir(listing.get()) : nullptr) {
    const std::string path = broker_directory + "/" + entry->d_name;
    if (is_directory_of(entry->d_name, uid) && is_ours(path)) return path;
  }
  const std::string fresh = broker_directory + "/" + uid + "-" + wire::id::random().hex().substr(0, 8);
  return ::mkdir(fresh.c_str(), 0700) == 0 ? fresh : std::string();
}

}  // namespace

expected<std::string> prepare_endpoint_directory(const std::string& broker_directory, bool chosen) {
  struct stat parent {};
  if (::mkdir(broker_directory.c_str(), 0700) != 0 && errno != EEXIST) return cannot_use(broker_directory, errno);
  if (::stat(broker_directory.c_str(), &parent) != 0) return cannot_use(broker_directory, errno);
  if (const auto foreign = chosen ? std::string() : why_foreign(broker_directory); !foreign.empty())
    return error(errc::no_permission, "cannot use the directory " + broker_directory + " for sockets: " + foreign +
                                          "; remove it, or set XDG_RUNTIME_DIR to a directory of yours");
  const bool shared = (parent.st_mode & S_IRWXG) != 0;

  std::string own = broker_directory + "/" + std::to_string(::geteuid());
  if (::mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) return cannot_use(own, errno);
  if (std::string other = shared && !is_ours(own) ? another_directory(broker_directory) : std::string(); !other.empty())
    own = std::move(other);
  struct stat found {};
  if (::lstat(own.c_str(), &found) != 0) return cannot_use(own, errno);
  if (!is_ours(own))
    return error(errc::no_permission, "cannot use the directory " + own + " for sockets: " + ownership_text(own) +
                                          "; remove it, or set XDG_RUNTIME_DIR to a directory of yours");
  // Only members of the broker's group reach the sockets.
  if (shared && ::chown(own.c_str(), static_cast<uid_t>(-1), parent.st_gid) != 0 && found.st_gid != parent.st_gid)
    return cannot_use(own, errno);
  const mode_t mode = shared ? 0750 : 0700;
  if ((found.st_mode & 07777) != mode && ::chmod(own.c_str(), mode) != 0) return cannot_use(own, errno);
  sweep(own);
  return own;
}

void share_with_group(const std::string& socket_path) {
  struct stat directory {};
  const std::string parent = socket_path.substr(0, socket_path.rfind('/'));
  if (::stat(parent.c_str(), &directory) != 0) return;
  const bool shared = (directory.st_mode & S_IRWXG) != 0;
  if (shared && ::chown(socket_path.c_str(), static_cast<uid_t>(-1), directory.st_gid) != 0) return;
  ::chmod(socket_path.c_str(), shared ? 0660 : 0600);
}

}  // namespace orc::detail
