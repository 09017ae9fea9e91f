#include "transport/shm/shm_transport.h"

#include "transport/path_socket.h"
#include "transport/shm/peer.h"
#include "transport/shm/shm_publisher_link.h"
#include "transport/shm/shm_subscriber_link.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "shm://";
constexpr std::string_view suffix = ".shm";

}  // namespace

link_or_error<publisher_link> shm_transport::advertise(const publication_spec& spec) const {
  if (const error why = shm::obstacle_to_shared_memory(); why.code() != errc::ok) return why;
  auto opened = listen_in_directory(spec, suffix, SOCK_SEQPACKET);
  if (auto* const failed = std::get_if<error>(&opened)) return std::move(*failed);
  auto& [door, path] = std::get<listening_path>(opened);
  auto link = std::make_unique<shm::shm_publisher_link>(
      std::move(door), spec, wire::endpoint{wire::transport::shm, std::string(scheme) + path});
  if (const auto reserved = link->reserve(); !reserved) return reserved.error();
  return link;
}

link_or_error<subscriber_link> shm_transport::subscribe(const subscription_spec& spec,
                                                        const wire::endpoint& address) const {
  auto connected = connect_to_path(spec, address.address, scheme, suffix, SOCK_SEQPACKET);
  if (auto* const failed = std::get_if<error>(&connected)) return std::move(*failed);
  auto& socket = std::get<unique_fd>(connected);
  if (!shm::may_take_memory(socket.get(), address.address.substr(scheme.size())))
    return error(errc::refused, "the socket belongs to another user");
  return std::make_unique<shm::shm_subscriber_link>(std::move(socket), spec);
}

}  // namespace orc::detail
