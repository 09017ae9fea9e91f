#include "transport/path_socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/files/denied_path.h"
#include "base/files/fd_limit.h"
#include "base/files/run_dir.h"
#include "base/files/stray_descriptors.h"
#include "transport/endpoint_directory.h"
#include "transport/out_of_descriptors.h"
#include "transport/path_peer.h"

namespace orc::detail {

namespace {

constexpr int backlog = 512;  // more would only make newcomers wait longer behind a crowd; they retry when it is full
constexpr std::size_t max_path_length = sizeof(sockaddr_un::sun_path) - 1;

[[nodiscard]] sockaddr_un address_of(const std::string& path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

[[nodiscard]] std::string file_name(const wire::id& publication, std::string_view suffix) {
  return publication.hex().substr(0, 16) + std::string(suffix);
}

[[nodiscard]] error refused(std::string why) { return {errc::refused, std::move(why)}; }

[[nodiscard]] error cannot_listen(const std::string& path, int problem) {
  const bool denied = problem == EACCES || problem == EPERM;
  return {denied ? errc::no_permission : errc::system_error,
          "cannot listen on " + path + ": " + (denied ? why_denied(path) : std::string(std::strerror(problem)))};
}

[[nodiscard]] bool is_run_directory(const std::string& directory, const std::string& of_the_broker) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) return false;
  auto known = well_known_dirs();
  known.push_back(of_the_broker);
  return std::any_of(known.begin(), known.end(), [&](const std::string& each) {
    struct stat other {};
    return ::stat(each.c_str(), &other) == 0 && other.st_dev == found.st_dev && other.st_ino == found.st_ino;
  });
}

// The address comes from another program. It must not make us knock at any door of this host.
[[nodiscard]] bool is_a_publications(const std::string& path, const subscription_spec& spec, std::string_view suffix) {
  const auto name_at = path.rfind('/');
  const auto user_at = name_at == std::string::npos || name_at == 0 ? std::string::npos : path.rfind('/', name_at - 1);
  if (user_at == std::string::npos) return false;
  const std::string home = path.substr(0, name_at);
  const std::string_view user = std::string_view(home).substr(user_at + 1);
  const std::string_view uid = user.substr(0, user.find_first_not_of("0123456789"));
  if (uid.empty() || !is_directory_of(user, uid)) return false;
  if (path.substr(name_at + 1) != file_name(spec.publication, suffix)) return false;
  struct stat found {};
  const bool is_directory = ::lstat(home.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  return is_directory && is_run_directory(home.substr(0, user_at), spec.run_directory);
}

}  // namespace

expected<listening_path> listen_in_directory(const publication_spec& spec, std::string_view suffix, int type) {
  const std::string path = spec.directory + "/" + file_name(spec.id, suffix);
  if (path.size() > max_path_length)
    return error(errc::system_error, "the path " + path + " is too long for a socket (" +
                                         std::to_string(max_path_length) +
                                         " bytes at most): start the broker in a shorter directory");
  const sockaddr_un address = address_of(path);
  unique_fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd && (errno == EMFILE || errno == ENFILE)) return out_of_descriptors();
  (void)refuse_descriptors(fd.get());  // connections inherit it
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), backlog) != 0)
    return cannot_listen(path, errno);
  share_with_group(path);
  auto door = acceptor::make(std::move(fd), path);
  if (!door) return door.error();
  return listening_path{*std::move(door), path};
}

expected<unique_fd> connect_to_path(const subscription_spec& spec, const std::string& address, std::string_view scheme,
                                    std::string_view suffix, int type) {
  if (!address.starts_with(scheme)) return refused("not an address of this kind");
  const std::string path = address.substr(scheme.size());
  if (path.empty() || path.size() > max_path_length) return refused("the path is empty or too long");
  if (!is_a_publications(path, spec, suffix)) return refused("not in a run directory of ORC");
  if (::access(path.c_str(), W_OK) != 0)
    return refused(errno == ENOENT   ? "no such socket on this host"
                   : errno == EACCES ? why_denied(path, wish::connect)
                                     : std::string("cannot use the socket: ") + std::strerror(errno));
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return refused("not a socket");
  const sockaddr_un to = address_of(path);
  unique_fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if ((!fd && (errno == EMFILE || errno == ENFILE)) || among_the_last_fds(fd.get())) return out_of_descriptors();
  if (type == SOCK_STREAM) (void)refuse_descriptors(fd.get());
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (errno == EAGAIN) return error(errc::timed_out, "too many others wait to connect");
    return refused(std::string("cannot connect: ") + std::strerror(errno));
  }
  // A member of the broker's group may have put its own directory in the place of another user's.
  if (!may_publish_at(fd.get(), path)) return refused("the socket belongs to another user");
  return fd;
}

}  // namespace orc::detail
