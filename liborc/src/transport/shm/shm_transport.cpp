#include "transport/shm/shm_transport.h"

#include "transport/path_socket.h"
#include "transport/shm/shm_publisher_link.h"
#include "transport/shm/shm_subscriber_link.h"

namespace orc::detail {

namespace {

constexpr std::string_view shm_scheme = "shm://";
constexpr std::string_view suffix = ".shm";

}  // namespace

link_or_error<publisher_link> shm_transport::advertise(const publication_spec& spec) const {
  if (const auto able = shm::can_share_memory(); !able) return able.error();
  auto opened = listen_in_directory(spec, suffix, SOCK_SEQPACKET);
  if (!opened) return opened.error();
  auto& [door, path] = *opened;
  auto link = std::make_unique<shm::shm_publisher_link>(
      std::move(door), spec, wire::endpoint{wire::transport::shm, std::string(shm_scheme) + path});
  if (const auto reserved = link->reserve(); !reserved) return reserved.error();
  return link;
}

link_or_error<subscriber_link> shm_transport::subscribe(const subscription_spec& spec,
                                                        const wire::endpoint& address) const {
  auto connected = connect_to_path(spec, address.address, shm_scheme, suffix, SOCK_SEQPACKET);
  if (!connected) return connected.error();
  return std::make_unique<shm::shm_subscriber_link>(*std::move(connected), spec);
}

}  // namespace orc::detail
