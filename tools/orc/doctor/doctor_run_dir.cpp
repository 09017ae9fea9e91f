// orc doctor: can programs put their sockets where the broker's users have them? (liborc: core/endpoint_directory)
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files/run_dir.h"
#include "tools/orc/doctor/doctor.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr const char* name = "run directory";

std::string user_name(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

std::string group_name(gid_t group) {
  const ::group* const entry = ::getgrgid(group);
  return entry != nullptr ? entry->gr_name : std::to_string(group);
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

bool may_write(const std::string& directory) { return ::eaccess(directory.c_str(), W_OK | X_OK) == 0; }

struct problem {
  std::string text;
  std::vector<std::string> fixes;
};

// Where else ORC looks.
std::vector<std::string> another_place() {
  const std::string users = "/run/user/" + std::to_string(::geteuid());
  if (may_write(users)) return {"export XDG_RUNTIME_DIR=" + users};
  return {"unset XDG_RUNTIME_DIR"};
}

// As a participant's, which is 16 digits and at most 4 more.
std::string socket_name() {
  std::string text = "doctor" + std::to_string(::getpid());
  text.resize(20, '_');
  return text;
}

// What a participant does: it binds a socket, in a directory of its own there.
std::optional<problem> try_socket(const std::string& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string own = directory + "/" + std::to_string(::geteuid());
  const std::string longest = own + "/" + socket_name();
  if (longest.size() >= sizeof address.sun_path)
    return problem{"its name is too long for sockets, which have room for " +
                       std::to_string(sizeof address.sun_path - 1) + " bytes",
                   another_place()};
  const std::string path = (::access(own.c_str(), F_OK) == 0 ? own : directory) + "/" + socket_name();
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;  // no descriptors: another check tells
  const int failure = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ::close(fd);
  if (failure == 0) ::unlink(path.c_str());
  if (failure == 0 || failure == EADDRINUSE) return std::nullopt;
  return problem{"no socket can be made in it: " + std::string(std::strerror(failure)),
                 {"df -hi " + shell_word(directory)}};
}

std::optional<problem> missing(const std::string& directory) {
  const std::string parent = parent_of(directory);
  if (may_write(parent)) return std::nullopt;
  const std::string make = "install -d -m 0700 -o " + std::to_string(::geteuid()) + " ";
  if (::access(parent.c_str(), F_OK) != 0)
    return problem{"cannot be made: there is no " + parent, {as_root(make + shell_word(parent))}};
  return problem{"cannot be made: you may not write to " + parent, {as_root(make + shell_word(directory))}};
}

std::optional<problem> inaccessible(const std::string& directory, const struct stat& found) {
  if (may_write(directory)) return std::nullopt;
  constexpr gid_t first_group_to_join = 100;  // those below are the system's own, and give away far more
  if ((found.st_mode & S_IWGRP) != 0 && found.st_gid < first_group_to_join)
    return problem{"it is open to group " + group_name(found.st_gid) +
                       " only: start the broker there with --group and a group of yours, or use it over tcp",
                   {}};
  if ((found.st_mode & S_IWGRP) != 0)
    return problem{"you are not in its group (log in again after joining it)",
                   {as_root("usermod -aG " + group_name(found.st_gid) + " " + user_name(::geteuid()))}};
  return problem{"you may not write to it",
                 {as_root("chown " + std::to_string(::geteuid()) + " " + shell_word(directory))}};
}

// The participant's own directory in it.
std::optional<problem> own_directory(const std::string& directory) {
  const std::string own = directory + "/" + std::to_string(::geteuid());
  struct stat found {};
  if (::lstat(own.c_str(), &found) != 0) return std::nullopt;
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid()) return std::nullopt;
  return problem{own + " is " + (S_ISDIR(found.st_mode) ? "owned by " + user_name(found.st_uid) : "no directory"),
                 {as_root("rm -r " + shell_word(own))}};
}

std::optional<problem> full(const std::string& directory, std::string& description) {
  struct statvfs system {};
  if (::statvfs(directory.c_str(), &system) != 0) return std::nullopt;
  const auto bytes = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
  description += ", " + size_text(bytes) + " free";
  const bool has_inodes = system.f_files == 0 || system.f_favail > 0;  // some file systems do not count them
  if (system.f_bavail > 0 && has_inodes) return std::nullopt;
  return problem{"its file system is full", {"df -hi " + shell_word(directory)}};
}

std::optional<problem> look_at(const std::string& directory, std::string& description) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return problem{std::strerror(errno), another_place()};
    description += " is not there yet";
    auto wrong = missing(directory);
    if (!wrong) description += ", but can be made";
    return wrong;
  }
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(found.st_mode & 07777));
  description += ", owner " + user_name(found.st_uid) + ", mode " + mode;
  if (!S_ISDIR(found.st_mode)) return problem{"is no directory", {as_root("rm " + shell_word(directory))}};
  if ((found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0)
    return problem{"everybody may replace what is in it", {as_root("chmod o-w,+t " + shell_word(directory))}};
  if ((found.st_mode & S_IWGRP) != 0 && (found.st_mode & S_ISVTX) == 0)
    return problem{"its group may replace what is in it", {as_root("chmod +t " + shell_word(directory))}};
  auto wrong = full(directory, description);
  if (!wrong) wrong = inaccessible(directory, found);
  if (!wrong) wrong = own_directory(directory);
  if (!wrong) wrong = try_socket(directory);
  if (!wrong) description += ", sockets can be made";
  return wrong;
}

}  // namespace

void check_run_directory(const examine& add, const std::optional<std::string>& broker) {
  const std::string directory = broker ? detail::directory_beside(*broker) : detail::default_broker_dir();
  std::string description = directory;
  auto wrong = look_at(directory, description);
  if (wrong)
    add({severity::fail, name, description + ": " + wrong->text, std::move(wrong->fixes)});
  else
    add({severity::ok, name, description, {}});
}

}  // namespace orc::cli
