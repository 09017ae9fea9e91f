// ipc: Unix stream sockets in the participant's directory, one per publication, named by its id.
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/endpoint_directory.h"
#include "transport/stream/stream_publisher_link.h"
#include "transport/stream/stream_socket.h"
#include "transport/stream/stream_transport.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "ipc://";

}  // namespace

link_or_error<publisher_link> ipc_transport::advertise(const publication_spec& spec) const {
  const std::string path = spec.directory + "/" + spec.id.hex().substr(0, 16);
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return error(errc::system_error, "the path " + path + " is too long for a socket (" +
                                         std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                                         " bytes at most): start the broker in a shorter directory");
  auto watch = make_watch();
  if (auto* const failed = std::get_if<error>(&watch)) return std::move(*failed);
  auto listener = listen_at_path(path);
  if (auto* const failed = std::get_if<error>(&listener)) return std::move(*failed);
  share_with_group(path);
  return std::make_unique<stream_publisher_link>(
      std::move(std::get<unique_fd>(listener)), std::move(std::get<unique_fd>(watch)), spec.id,
      wire::endpoint{wire::transport::ipc, std::string(scheme) + path}, path);
}

std::string ipc_transport::obstacle(const wire::endpoint& address) const {
  if (!address.address.starts_with(scheme)) return "not an ipc address";
  const std::string path = address.address.substr(scheme.size());
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return "the path is too long";
  if (::access(path.c_str(), W_OK) == 0) return {};
  return errno == ENOENT ? "no such socket on this host" : std::string("cannot use the socket: ") + strerror(errno);
}

}  // namespace orc::detail
