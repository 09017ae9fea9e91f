// tcp: one port per publication, on the loopback unless other hosts can reach the broker.
#include "base/files/fd_limit.h"
#include "transport/out_of_descriptors.h"
#include "transport/stream/stream_publisher_link.h"
#include "transport/stream/stream_socket.h"
#include "transport/stream/stream_subscriber_link.h"
#include "transport/stream/stream_transport.h"

namespace orc::detail {

link_or_error<publisher_link> tcp_transport::advertise(const publication_spec& spec) const {
  std::uint16_t port = 0;
  auto listener = listen_on_port(spec.listen_remote, port, spec.ports);
  if (!listener) return listener.error();
  auto door = acceptor::make(*std::move(listener));
  if (!door) return door.error();
  return std::make_unique<stream_publisher_link>(
      *std::move(door), spec, wire::endpoint{wire::transport::tcp, "tcp://127.0.0.1:" + std::to_string(port)});
}

link_or_error<subscriber_link> tcp_transport::subscribe(const subscription_spec& spec,
                                                        const wire::endpoint& address) const {
  auto connected = connect_to_host(address.address);
  if (!connected) return connected.error();
  if (among_the_last_fds(connected->get())) return out_of_descriptors();
  return std::make_unique<stream_subscriber_link>(*std::move(connected), name(), spec);
}

}  // namespace orc::detail
