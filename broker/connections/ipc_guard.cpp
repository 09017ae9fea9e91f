#include "broker/connections/ipc_guard.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files/denied_path.h"

namespace orc {
namespace {

constexpr std::size_t max_path_length = sizeof(sockaddr_un::sun_path) - 1;

using detail::expected;
using detail::unable;

std::string system_message(int error) { return std::strerror(error); }

std::string why_unusable(const std::string& directory, int error) {
  return error == EACCES ? detail::why_denied(directory) : system_message(error);
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

result make_directories(const std::string& directory) {
  struct stat found {};
  if (stat(directory.c_str(), &found) == 0) return {};
  if (errno != ENOENT)
    return unable("directory " + directory + " cannot be used (" + why_unusable(directory, errno) + ")");
  if (auto made = make_directories(directory_of(directory)); !made) return made;
  if (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  const int error = errno;
  return unable("directory " + directory + " cannot be made (" + why_unusable(directory, error) +
                "): make it, or choose another with --listen");
}

// The owner of the directory decides which program listens at the socket.
result check_directory(const std::string& directory) {
  struct stat found {};
  if (stat(directory.c_str(), &found) != 0) return unable(directory + ": " + system_message(errno));
  if (!S_ISDIR(found.st_mode)) return unable(directory + " is not a directory: choose another path with --listen");
  const auto self = geteuid();
  if (self != 0 && found.st_uid != self && found.st_uid != 0) {
    return unable("directory " + directory + " belongs to uid " + std::to_string(found.st_uid) + ", not to uid " +
                  std::to_string(self) + ": choose another with --listen");
  }
  if (access(directory.c_str(), W_OK | X_OK) == 0) return {};
  const int error = errno;
  return unable("directory " + directory + ": " + system_message(error) + " (" + detail::ownership_text(directory) +
                "): run as a user who may write there, or choose another with --listen");
}

// Only a directory that the broker has just made is changed: another one, such as /tmp, belongs to others, too.
result open_to_group(const std::string& directory, gid_t group, bool is_new) {
  struct stat found {};
  if (is_new && chown(directory.c_str(), static_cast<uid_t>(-1), group) == 0 && chmod(directory.c_str(), 03770) == 0)
    return {};
  if (is_new)
    return unable("directory " + directory + " cannot be opened to the group (" + system_message(errno) +
                  "): be a member of the group");
  if (stat(directory.c_str(), &found) == 0 && found.st_gid == group && (found.st_mode & 07777) == 03770) return {};
  return unable("directory " + directory + " is not open to the group (" + detail::ownership_text(directory) +
                "): choose one that does not exist with --listen, or set its group and mode 3770");
}

// Members of its group may rename and remove what is another's unless it is sticky. One that everybody may read is not
// for the broker alone. Without the right to change it, things stay as they are: `orc doctor` reports it.
void guard_shared(const std::string& directory) {
  struct stat found {};
  if (stat(directory.c_str(), &found) != 0 || found.st_uid != geteuid()) return;
  const bool shared = (found.st_mode & S_IWGRP) != 0 && (found.st_mode & S_IRWXO) == 0;
  if (shared) (void)chmod(directory.c_str(), (found.st_mode & 07777) | S_ISVTX);
}

// A member of the group may have taken the name before us. In our own sticky directory we may move it away.
void make_way(const std::string& directory, const std::string& path) {
  struct stat above {};
  struct stat found {};
  if (stat(directory.c_str(), &above) != 0 || above.st_uid != geteuid() || lstat(path.c_str(), &found) != 0) return;
  if (found.st_uid == geteuid() || found.st_uid == 0) return;
  if (unlink(path.c_str()) != 0) (void)rename(path.c_str(), (path + ".of-" + std::to_string(found.st_uid)).c_str());
}

std::string holder_pid(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof text, 0);
  const auto end =
      std::find_if_not(text, text + std::max<ssize_t>(size, 0), [](char c) { return c >= '0' && c <= '9'; });
  return end == text ? "unknown" : std::string(text, end);
}

// The previous holder removes the file when it ends, and a lock on a deleted file protects nothing.
bool still_named(int fd, const std::string& name) {
  struct stat open_file {};
  struct stat named {};
  return fstat(fd, &open_file) == 0 && stat(name.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

expected<int> take_lock(const std::string& path) {
  const std::string name = path + ".lock";
  for (;;) {
    const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
      return unable("lock file " + name + ": " + system_message(errno) + ": remove it, or choose another path");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      auto text = error == EWOULDBLOCK ? "another orc-broker (pid " + holder_pid(fd) + ") already serves ipc://" +
                                             path + ": use that one, stop it, or choose another path with --listen"
                                       : "lock file " + name + ": " + system_message(error);
      close(fd);
      return unable(std::move(text));
    }
    if (still_named(fd, name)) return fd;
    close(fd);
  }
}

bool somebody_listens(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool answered =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(fd);
  return answered;
}

result check_free(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) return unable(path + " exists and is not a socket: remove it, or choose another path");
  if (!somebody_listens(path)) return {};  // left behind by a killed broker: the bind replaces it
  return unable("another program already serves ipc://" + path + ": stop it, or choose another path with --listen");
}

void write_pid(int fd) {
  const auto text = std::to_string(getpid()) + "\n";
  // Only for the message of a second broker; nothing else depends on it.
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

expected<ipc_guard> ipc_guard::take(const std::string& path, std::optional<gid_t> group) {
  if (path.empty()) return unable("the path is empty");
  if (path.front() == '@') return unable("abstract sockets have no permissions: choose a path");
  if (path.size() > max_path_length) {
    return unable("the path has " + std::to_string(path.size()) + " bytes, a socket's path has at most " +
                  std::to_string(max_path_length) + ": choose a shorter one");
  }
  const auto directory = directory_of(path);
  const bool is_new = access(directory.c_str(), F_OK) != 0;
  if (auto made = make_directories(directory); !made) return made.error();
  if (auto checked = check_directory(directory); !checked) return checked.error();
  guard_shared(directory);
  if (group) {
    if (auto opened = open_to_group(directory, *group, is_new); !opened) return opened.error();
  }
  make_way(directory, path + ".lock");
  const auto lock = take_lock(path);
  if (!lock) return lock.error();
  make_way(directory, path);
  if (auto checked = check_free(path); !checked) {
    unlink((path + ".lock").c_str());
    close(*lock);
    return checked.error();
  }
  write_pid(*lock);
  return ipc_guard(path, *lock);
}

result ipc_guard::set_mode() {
  struct stat made {};
  if (lstat(path_.c_str(), &made) != 0) return unable(path_ + ": " + system_message(errno));
  device_ = made.st_dev;
  inode_ = made.st_ino;
  struct stat directory {};
  const bool group = stat(directory_of(path_).c_str(), &directory) == 0 && (directory.st_mode & S_IRWXG) != 0;
  if (chmod(path_.c_str(), group ? 0660 : 0600) == 0) return {};
  return unable(path_ + ": chmod: " + system_message(errno));
}

bool ipc_guard::holds() const noexcept {
  struct stat found {};
  return fd_ >= 0 && lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

void ipc_guard::let_go() noexcept {
  if (fd_ < 0) return;
  if (holds()) unlink(path_.c_str());
  const std::string lock = path_ + ".lock";
  if (still_named(fd_, lock)) unlink(lock.c_str());  // before the unlock: afterwards it may be the next broker's
  close(std::exchange(fd_, -1));
}

}  // namespace orc
