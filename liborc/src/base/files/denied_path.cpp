#include "base/files/denied_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "base/files/run_dir.h"

namespace orc::detail {

namespace {

// From a file whose lines begin with name:password:number:
[[nodiscard]] std::string name_in(const char* file, unsigned number) {
  std::string wanted = std::to_string(number);
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto password = line.find(':');
    const auto id = password == std::string::npos ? password : line.find(':', password + 1);
    if (id == std::string::npos) continue;
    const auto end = line.find(':', id + 1);
    if (std::string_view(line).substr(id + 1, end - id - 1) == wanted) return line.substr(0, password);
  }
  return wanted;
}

[[nodiscard]] std::string user_name(uid_t user) { return name_in("/etc/passwd", user); }

[[nodiscard]] std::string group_name(gid_t group) { return name_in("/etc/group", group); }

[[nodiscard]] bool may(const std::string& path, int mode) noexcept {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

// What keeps this user out, and the permission of its group that would let it in.
struct barrier {
  std::string path;
  mode_t group_needs = 0;
};

[[nodiscard]] barrier barrier_of(const std::string& path) {
  std::string above = path.starts_with('/') ? "/" : ".";
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    if (!may(directory, F_OK)) return {above, S_IWGRP};
    if (!may(directory, X_OK)) return {directory, S_IXGRP};
    above = directory;
  }
  return {may(path, F_OK) ? path : above, S_IWGRP};
}

[[nodiscard]] std::string directory_of_this_user() {
  const std::string usual = "/run/user/" + std::to_string(::geteuid());
  return may(usual, W_OK | X_OK) ? usual : "a directory of yours";
}

// Groups of the system itself, such as root, adm and disk: their members get far more than ORC's sockets.
constexpr gid_t first_group_to_join = 100;

[[nodiscard]] std::string remedy(const barrier& at, const struct stat& found, wish what) {
  const bool is_groups = (found.st_mode & at.group_needs) != 0 && found.st_uid != ::geteuid();
  if (is_groups && found.st_gid >= first_group_to_join)
    return "run 'sudo usermod -aG " + group_name(found.st_gid) + " " + user_name(::geteuid()) + "' and log in again";
  if (found.st_uid == 0 && at.path.starts_with(system_broker_dir))
    return "only root may use the broker there: start it as a service (liborc/doc/guide/broker-at-boot.md) or "
           "with --group, orc-broker as yourself, or use it over tcp";
  if (what == wish::connect || is_groups)
    return "start the broker there with 'orc-broker --group' and a group of this user, or use it over tcp";
  return "set XDG_RUNTIME_DIR to " + directory_of_this_user();
}

}  // namespace

std::string ownership_text(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return path;
  return path + " belongs to " + user_name(found.st_uid) + ", group " + group_name(found.st_gid);
}

std::string why_denied(const std::string& path, wish what) {
  const barrier at = barrier_of(path);
  struct stat found {};
  if (::stat(at.path.c_str(), &found) != 0) return "Permission denied: " + at.path;
  return "Permission denied: " + ownership_text(at.path) + "; " + remedy(at, found, what);
}

}  // namespace orc::detail
