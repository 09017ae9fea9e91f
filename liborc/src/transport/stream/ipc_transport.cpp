// ipc: a Unix stream socket per publication.
#include "transport/path_socket.h"
#include "transport/stream/stream_publisher_link.h"
#include "transport/stream/stream_subscriber_link.h"
#include "transport/stream/stream_transport.h"

namespace orc::detail {

namespace {

constexpr std::string_view scheme = "ipc://";

}  // namespace

link_or_error<publisher_link> ipc_transport::advertise(const publication_spec& spec) const {
  auto opened = listen_in_directory(spec, "", SOCK_STREAM);
  if (!opened) return opened.error();
  auto& [door, path] = *opened;
  return std::make_unique<stream_publisher_link>(std::move(door), spec,
                                                 wire::endpoint{wire::transport::ipc, std::string(scheme) + path});
}

link_or_error<subscriber_link> ipc_transport::subscribe(const subscription_spec& spec,
                                                        const wire::endpoint& address) const {
  auto connected = connect_to_path(spec, address.address, scheme, "", SOCK_STREAM);
  if (!connected) return connected.error();
  return std::make_unique<stream_subscriber_link>(*std::move(connected), name(), spec);
}

}  // namespace orc::detail
